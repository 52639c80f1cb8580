// Makes way for torch.profiler: when it begins to record while a capture is on, the capture is
// ended in order first, so that both get what is theirs. Otherwise its records and ours would go to
// whoever asked last, and detaching CUPTI under it can crash the process.
//
// Kineto, within libtorch_cpu, calls CUPTI through slots of its linkage table; while a capture is
// on, the two calls with which it begins lead here. The agent's thread installs and removes.
#pragma once

namespace nanolane::inject {

// `yield` is called by the thread that begins to record, and returns once CUPTI is free.
void WatchOtherTools(void (*yield)());
void ForgetOtherTools();

}  // namespace nanolane::inject
