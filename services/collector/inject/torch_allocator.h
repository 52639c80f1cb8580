// The changes of PyTorch's caching allocator, in a process that runs, without a restart.
//
// libc10_cuda calls c10::reportMemoryUsageToProfiler for every allocation and free, whether or not
// a profiler runs, through a slot of its linkage table. While a capture is on, that slot leads
// here. The agent's thread installs and removes; the hook runs on the allocating threads.
#pragma once

namespace nanolane::inject {

// Whether it is redirected now. Does nothing where PyTorch is not (yet) loaded, or has no such
// call. Call it again every so often: a first call in progress can undo it.
bool InstallTorchHook();
void RemoveTorchHook();
// Whether libc10_cuda is loaded at all.
bool TorchIsLoaded();

}  // namespace nanolane::inject
