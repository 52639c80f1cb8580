// Let one thread of a test wait for another. Thread-safe.
#pragma once

#include "libs/base/mutex.h"

namespace nanolane::desktop {

class Signal {
 public:
  void Set() {
    base::MutexLock lock(mutex_);
    set_ = true;
    condition_.NotifyAll();
  }
  void Wait() {
    base::MutexLock lock(mutex_);
    condition_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return set_; });
  }

 private:
  base::Mutex mutex_;
  base::CondVar condition_;
  bool set_ ABSL_GUARDED_BY(mutex_) = false;
};

// Counts what happened; each Take() waits for one more.
class Signals {
 public:
  void Add() {
    base::MutexLock lock(mutex_);
    ++count_;
    condition_.NotifyAll();
  }
  void Take() {
    base::MutexLock lock(mutex_);
    condition_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return count_ > 0; });
    --count_;
  }

 private:
  base::Mutex mutex_;
  base::CondVar condition_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace nanolane::desktop
