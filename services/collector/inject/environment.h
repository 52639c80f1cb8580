// The environment variables that the library reads, copied once on the thread that loads it: later,
// on the library's own thread, getenv would race with a program that sets variables.
#pragma once

namespace nanolane::inject {

enum class Variable {
  kSocket,    // NANOLANE_SOCKET
  kProject,   // NANOLANE_PROJECT
  kLog,       // NANOLANE_INJECT_LOG
  kCupti,     // NANOLANE_CUPTI
  kCudaHome,  // CUDA_HOME
  kCudaPath,  // CUDA_PATH
  kCount,
};

void CopyEnvironment();
// Null: not set, or too long to be meant.
const char* ValueOf(Variable variable);

}  // namespace nanolane::inject
