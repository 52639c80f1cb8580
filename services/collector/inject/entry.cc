// What the driver and NVTX call when they load the library, and what happens at fork and exit.
#include <pthread.h>

#include <cstdlib>

#include "services/collector/inject/activity_buffers.h"
#include "services/collector/inject/agent.h"
#include "services/collector/inject/environment.h"
#include "services/collector/inject/held_frees.h"
#include "services/collector/inject/name_facts.h"
#include "services/collector/inject/nvtx_tables.h"
#include "services/collector/inject/process_end.h"
#include "services/collector/inject/ring_writer.h"
#include "services/collector/inject/thread_state.h"

namespace nanolane::inject {
namespace {

// CUDA cannot be used in a child that was forked after it was initialized, and what the agent holds
// is the parent's. A child that initializes CUDA itself gets an agent of its own.
void InForkedChild() {
  ResetCaptureAfterFork();
  ResetThreadsAfterFork();
  ResetNamesAfterFork();
  ResetBuffersAfterFork();
  ResetHeldFreesAfterFork();
  ResetNvtxAfterFork();
  ResetAgentAfterFork();
  ResetProcessEndAfterFork();
}

pthread_once_t g_once = PTHREAD_ONCE_INIT;

void SetUpProcess() {
  CopyEnvironment();
  pthread_atfork(nullptr, nullptr, InForkedChild);
  atexit(EndAgentBeforeExit);
}

}  // namespace
}  // namespace nanolane::inject

// Called by the driver within cuInit, or by whoever loads the library later. 1: success.
extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  pthread_once(&nanolane::inject::g_once, nanolane::inject::SetUpProcess);
  nanolane::inject::StartAgent();
  return 1;
}

// Called by each copy of NVTX in the process at its first use. 1: success.
extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(
    nanolane::inject::NvtxGetExportTable get_export_table) {
  return nanolane::inject::FillNvtxTables(get_export_table) ? 1 : 0;
}
