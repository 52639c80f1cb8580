// What CUPTI's numbers mean: calls by callback id, directions of copies, kinds of memory. Taken
// from the headers of CUPTI 13.0 (cupti_runtime_cbid.h, cupti_driver_cbid.h, cupti_activity.h);
// such numbers are never given anew. The numbers stand here, so that the collector builds without
// them.
#pragma once

#include <cstdint>
#include <string_view>

#include "libs/trace/kinds.h"
#include "services/collector/inject/wire.h"

namespace nanolane::collector {

namespace wire = inject::wire;

// Name of a call that waits, or makes a stream wait; empty: not one of those.
std::string_view SyncCallName(uint8_t domain, uint16_t cbid);

// Whether the call launches kernels by itself (not a graph, not a host function).
bool LaunchesKernel(uint8_t domain, uint16_t cbid);

// "HtoD" as CUpti_ActivityMemcpyKind numbers it; empty: unknown.
std::string_view CopyWord(uint8_t copy_kind);
trace::CopyDirection CopyDirectionOf(uint8_t copy_kind);

// "Pageable" as CUpti_ActivityMemoryKind numbers it; "Unknown".
std::string_view MemoryWord(uint8_t memory_kind);
trace::MemoryKind MemoryKindOf(uint8_t memory_kind);
// Whether such memory is on the device alone.
bool IsDeviceMemory(uint8_t memory_kind);

}  // namespace nanolane::collector
