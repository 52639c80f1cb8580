// The driver's functions that the library calls, from the libcuda that the process has loaded.
// Thread-safe.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "services/collector/inject/wire.h"

namespace nanolane::inject {

// Devices as the process sees them; 0: CUDA has not answered (not initialized yet).
uint32_t ListGpus(wire::Gpu* gpus, uint32_t most);

// Bytes in use and in all on a device whose primary context is active; false: not known.
bool DeviceMemory(int device, uint64_t* used_bytes, uint64_t* total_bytes);

// Whether what is launched into the stream is being captured into a graph.
bool StreamIsCapturing(CUstream stream, bool per_thread);

}  // namespace nanolane::inject
