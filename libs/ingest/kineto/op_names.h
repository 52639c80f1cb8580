// What the names of copies, memsets, synchronizations and API calls say.
#pragma once

#include <string_view>

#include "libs/trace/kinds.h"

namespace nanolane::ingest::kineto {

struct CopyFacts {
  trace::CopyDirection direction = trace::CopyDirection::kNone;
  trace::MemoryKind source = trace::MemoryKind::kUnknown;
  trace::MemoryKind destination = trace::MemoryKind::kUnknown;
};

// "Memcpy HtoD (Pageable -> Device)"; where the name does not tell, `kind` may ("DtoD",
// "HostToDevice", "CopyHostToDevice": AMD).
CopyFacts CopyFactsOf(std::string_view name, std::string_view kind);

// "Memset (Device)"
trace::MemoryKind MemsetTargetOf(std::string_view name);

// Of a cuda_sync record: "Event Sync", "Stream Wait Event", …; kNone: not known.
trace::SyncKind SyncKindOfRecord(std::string_view text);

// Of an API call that blocks until the GPU has come to a point: cudaStreamSynchronize,
// cuCtxSynchronize_v2, hipDeviceSynchronize, … kNone: any other call, cudaStreamWaitEvent among
// them.
trace::SyncKind SyncKindOfCall(std::string_view call);

// Whether the call launches one kernel (not a graph, not a host function).
bool IsKernelLaunch(std::string_view call);

// Whether device work of `kind` can come from the call.
bool CanLaunch(std::string_view call, trace::EventKind kind);

bool IsAsyncCall(std::string_view call);

}  // namespace nanolane::ingest::kineto
