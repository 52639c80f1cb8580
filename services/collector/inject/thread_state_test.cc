#include "services/collector/inject/thread_state.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "services/collector/inject/testing/open_capture.h"

namespace nanolane::inject {
namespace {

uint32_t Tid() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

ThreadState* StateOfNewThread() {
  ThreadState* state = nullptr;
  std::thread([&state] { state = CurrentThread(); }).join();
  return state;
}

}  // namespace

TEST_CASE("a thread keeps its state, and no two living ones share one") {
  constexpr int kThreads = 16;
  std::atomic<int> waiting{0};
  std::vector<ThreadState*> states(kThreads);
  std::vector<std::thread> threads;
  std::atomic<bool> steady{true};
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      states[i] = CurrentThread();
      waiting.fetch_add(1);
      while (waiting.load() < kThreads) std::this_thread::yield();
      if (CurrentThread() != states[i] || states[i]->thread != Tid()) steady.store(false);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(steady.load());
  CHECK(std::set<ThreadState*>(states.begin(), states.end()).size() == kThreads);
  CHECK(std::count(states.begin(), states.end(), nullptr) == 0);
}

TEST_CASE("5,000 threads, one after the other, share the states of a few") {
  StateOfNewThread();
  const uint32_t before = ThreadsEver();
  std::atomic<bool> all{true};
  for (int i = 0; i < 1'000; ++i) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 5; ++t) {
      threads.emplace_back([&all] {
        if (CurrentThread() == nullptr) all.store(false);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  CHECK(all.load());
  CHECK(ThreadsEver() <= before + 5);
}

TEST_CASE("a state that is used again has nothing of the thread before") {
  OpenCapture capture;
  ThreadState* before = nullptr;
  std::thread([&before] {
    const CaptureUse use;
    before = &use.thread();
    before->call_open = true;
    before->nvtx_lost_depth = 3;
    before->nvtx_capture.store(use->ring->number());
    use.Write<wire::LaunchRecord>(wire::RecordType::kLaunch, kSlotLaunch,
                                  [](wire::LaunchRecord&) {});
  }).join();
  CHECK(before->taken.load() == 0);
  std::thread([before] {
    // Others may be free too; what is given is as good as new.
    const ThreadState* const state = CurrentThread();
    if (state != before) return;
    before->page = state->call_open || state->has_page || state->nvtx_lost_depth != 0 ||
                           state->nvtx_depth.load() != 0 || state->thread != Tid()
                       ? 99
                       : 0;
  }).join();
  CHECK(before->page == 0);
  // Its page was closed when it ended: the next thread does not go on in it.
  std::thread([] {
    const CaptureUse use;
    use.Write<wire::LaunchRecord>(wire::RecordType::kLaunch, kSlotLaunch,
                                  [](wire::LaunchRecord&) {});
  }).join();
  const Contents& contents = capture.Read();
  REQUIRE(contents.records.size() == 2);
  CHECK(contents.records[0].thread != contents.records[1].thread);
}

TEST_CASE("a forked child has its own thread alone") {
  CurrentThread();
  std::atomic<bool> stop{false};
  std::atomic<bool> has{false};
  std::thread other([&] {
    CurrentThread();
    has.store(true);
    while (!stop.load()) std::this_thread::yield();
  });
  while (!has.load()) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    ResetThreadsAfterFork();
    uint32_t taken = 0;
    ForEachThread([&taken](ThreadState& state) { taken += state.taken.load(); });
    _exit(taken == 1 && CurrentThread()->thread == Tid() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  stop.store(true);
  other.join();
}

// The thread sanitizer keeps too much of each thread for so many at once.
#ifndef __SANITIZE_THREAD__
TEST_CASE("beyond the most threads that are kept apart, uses are refused and counted") {
  constexpr uint32_t kThreads = kMaxThreads + 100;
  OpenCapture capture;
  TakeRefusedUses();
  struct Shared {
    std::atomic<uint32_t> arrived{0};
    std::atomic<uint32_t> refused{0};
    std::mutex stay;  // held by the test until all have arrived
  } shared;
  shared.stay.lock();
  const auto run = [](void* argument) -> void* {
    auto* const all = static_cast<Shared*>(argument);
    {
      const CaptureUse use;
      if (!use) all->refused.fetch_add(1);
    }
    all->arrived.fetch_add(1);
    const std::lock_guard<std::mutex> wait(all->stay);
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  std::vector<pthread_t> threads;
  for (uint32_t i = 0; i < kThreads; ++i) {
    pthread_t thread{};
    if (pthread_create(&thread, &attributes, run, &shared) != 0) break;
    threads.push_back(thread);
  }
  while (shared.arrived.load() < threads.size()) std::this_thread::yield();
  shared.stay.unlock();
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  if (threads.size() < kThreads) {
    WARN("SKIPPED: the machine gives no " << kThreads << " threads");
    return;
  }
  CHECK(shared.refused.load() >= 100);
  CHECK(shared.refused.load() <= 110);
  CHECK(TakeRefusedUses() == shared.refused.load());
  CHECK(ThreadsEver() == kMaxThreads);
  // States that were given back serve again.
  CHECK(StateOfNewThread() != nullptr);
}
#endif

}  // namespace nanolane::inject
