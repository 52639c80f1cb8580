#include "services/collector/inject/thread_state.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "services/collector/inject/nvtx_tables.h"
#include "services/collector/inject/ring_writer.h"

namespace nanolane::inject {
namespace {

std::atomic<ThreadState*> g_states[kMaxThreads];
std::atomic<uint32_t> g_count{0};
std::atomic<uint32_t> g_free{0};  // states that a thread has given back, at least
pthread_key_t g_key;
pthread_once_t g_key_once = PTHREAD_ONCE_INIT;
bool g_key_made = false;

enum class Phase : uint8_t { kNone, kHas, kRefused, kEnded };
thread_local ThreadState* t_state = nullptr;
thread_local Phase t_phase = Phase::kNone;

void EndThread(void* value) {
  auto* state = static_cast<ThreadState*>(value);
  EndRangesOfEndingThread();
  t_state = nullptr;
  t_phase = Phase::kEnded;
  ClosePageOfEndingThread(*state);
  state->call_open = false;
  state->under_way.store(0, std::memory_order_relaxed);
  // A thread that was cancelled within a hook must not look as if it were still there.
  state->busy.store(0, std::memory_order_release);
  state->taken.store(0, std::memory_order_release);
  g_free.fetch_add(1, std::memory_order_relaxed);
}

void MakeKey() { g_key_made = pthread_key_create(&g_key, EndThread) == 0; }

ThreadState* Reuse() {
  if (g_free.load(std::memory_order_relaxed) == 0) return nullptr;
  const uint32_t count = ThreadsEver();
  for (uint32_t i = 0; i < count; ++i) {
    ThreadState* state = ThreadAt(i);
    uint32_t free = 0;
    if (state == nullptr || state->taken.load(std::memory_order_relaxed) != 0) continue;
    if (!state->taken.compare_exchange_strong(free, 1, std::memory_order_acquire)) continue;
    g_free.fetch_sub(1, std::memory_order_relaxed);
    return state;
  }
  return nullptr;
}

// Memory of its own pages, zeroed: malloc may be the application's own.
ThreadState* Make() {
  // In one order with the store of the capture that the agent retracts before it looks at all
  // states: what it does not find here finds no capture.
  const uint32_t index = g_count.fetch_add(1, std::memory_order_seq_cst);
  if (index >= kMaxThreads) {
    g_count.store(kMaxThreads, std::memory_order_relaxed);
    return nullptr;
  }
  void* memory = mmap(nullptr, sizeof(ThreadState), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* state = new (memory) ThreadState();
  state->taken.store(1, std::memory_order_relaxed);
  g_states[index].store(state, std::memory_order_seq_cst);
  return state;
}

ThreadState* Take() {
  pthread_once(&g_key_once, MakeKey);
  if (!g_key_made) return nullptr;
  ThreadState* state = Reuse();
  if (state == nullptr) state = Make();
  if (state == nullptr) return nullptr;
  state->thread = static_cast<uint32_t>(syscall(SYS_gettid));
  state->call_open = false;
  state->nvtx_lost_depth = 0;
  state->busy.store(0, std::memory_order_relaxed);
  if (pthread_setspecific(g_key, state) != 0) {
    state->taken.store(0, std::memory_order_release);
    g_free.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  return state;
}

}  // namespace

ThreadState* CurrentThread() {
  if (t_state != nullptr) return t_state;
  if (t_phase != Phase::kNone) return nullptr;
  // What is called below may come back here: an allocator that uses NVTX, for one.
  t_phase = Phase::kRefused;
  t_state = Take();
  t_phase = t_state != nullptr ? Phase::kHas : Phase::kRefused;
  return t_state;
}

ThreadState* ThreadAt(uint32_t index) {
  return index < kMaxThreads ? g_states[index].load(std::memory_order_seq_cst) : nullptr;
}

uint32_t ThreadsEver() {
  const uint32_t count = g_count.load(std::memory_order_seq_cst);
  return count < kMaxThreads ? count : kMaxThreads;
}

void ResetThreadsAfterFork() {
  const uint32_t count = ThreadsEver();
  for (uint32_t i = 0; i < count; ++i) {
    ThreadState* state = ThreadAt(i);
    if (state == nullptr) continue;
    state->busy.store(0, std::memory_order_relaxed);
    state->has_page = false;
    state->call_open = false;
    state->under_way.store(0, std::memory_order_relaxed);
    state->open_wait.store(0, std::memory_order_relaxed);
    state->nvtx_depth.store(0, std::memory_order_relaxed);
    if (state == t_state) {
      state->thread = static_cast<uint32_t>(syscall(SYS_gettid));
    } else if (state->taken.exchange(0, std::memory_order_relaxed) != 0) {
      g_free.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

}  // namespace nanolane::inject
