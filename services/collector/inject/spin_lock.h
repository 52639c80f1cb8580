// A lock for a few instructions: pthread's mutexes would do, but one that a fork leaves locked in
// the child must be resettable. Nothing of the application, CUDA or libc's allocator is called
// under one.
#pragma once

#include <sched.h>
#include <time.h>

#include <atomic>

namespace nanolane::inject {

class SpinLock {
 public:
  void Lock() {
    for (int tries = 0; locked_.exchange(true, std::memory_order_acquire); ++tries) {
      if (tries > 256) {
        // A holder of lower priority on this core runs only while this thread sleeps.
        const timespec pause = {.tv_sec = 0, .tv_nsec = 50'000};
        nanosleep(&pause, nullptr);
      } else if (tries > 64) {
        sched_yield();
      }
    }
  }
  void Unlock() { locked_.store(false, std::memory_order_release); }
  // In a forked child, where the thread that held it is gone.
  void Reset() { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_{false};
};

class SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) : lock_(lock) { lock_.Lock(); }
  ~SpinGuard() { lock_.Unlock(); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace nanolane::inject
