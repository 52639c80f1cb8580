// The driver's start: the injection library, and what becomes of a fork.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "tests/simulated_gpu/traced_call.h"

namespace nanolane::sim {
namespace {

std::atomic<bool> initialized{false};
std::atomic<bool> forked{false};
// cuInit called by the injection library itself returns at once.
thread_local bool is_initializing = false;

void LoadInjection() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == 0) return;
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "simulated CUDA: cannot load %s: %s\n", path, dlerror());
    return;
  }
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr || initialize() == 0) {
    std::fprintf(stderr, "simulated CUDA: InitializeInjection of %s failed\n", path);
  }
}

void Start() {
  is_initializing = true;
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
  initialized = true;
  LoadInjection();
  is_initializing = false;
}

}  // namespace

int Init() {
  if (forked) return kErrorNotInitialized;
  if (is_initializing) return kSuccess;
  static std::once_flag once;
  std::call_once(once, Start);
  return kSuccess;
}

bool IsForked() { return forked; }
bool IsInitialized() { return initialized && !forked; }
bool IsUsable() { return Init() == kSuccess; }

}  // namespace nanolane::sim
