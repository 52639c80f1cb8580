// The library as NVTX's injection library: its own functions in the tables of every copy of NVTX in
// the process. Dormant, each costs one test; ranges are kept per thread while a capture is on.
//
// The layouts and numbers are those of NVTX version 3's public headers.
#pragma once

#include <cstdint>

#include "services/collector/inject/ring_writer.h"

namespace nanolane::inject {

using NvtxGetExportTable = const void* (*)(uint32_t id);

// Fills the tables of one copy of NVTX. False: they are not as expected.
bool FillNvtxTables(NvtxGetExportTable get_export_table);
// Whether any copy has asked.
bool NvtxIsInjected();

// Once nothing begins any more: writes the ranges that are open, up to `off_ns`.
void WriteOpenRanges(const CaptureUse& use, int64_t off_ns);
// Ranges that the calling thread has pushed and not popped end with it.
void EndRangesOfEndingThread();
void ForgetProcessRanges();
void ResetNvtxAfterFork();

}  // namespace nanolane::inject
