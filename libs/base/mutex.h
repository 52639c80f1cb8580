// A mutex and its companions over the standard library, with Abseil's thread annotations.
//
// Not absl::Mutex: Debian's Abseil is built without TSan, so that correct programs report races
// there (see docs/adr/0002-mutex.md). Wait() takes a predicate; it re-checks after each wake-up.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace nanolane::base {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  // Waits until `done()` holds. The mutex is held when `done` runs and when Wait returns.
  template <typename Predicate>
  void Wait(Mutex& mutex, Predicate done) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock, done);
    lock.release();
  }

  // As Wait, for at most `timeout`. Returns what `done()` said last.
  template <typename Predicate>
  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds timeout,
               Predicate done) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool held = condition_.wait_for(lock, timeout, done);
    lock.release();
    return held;
  }

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace nanolane::base
