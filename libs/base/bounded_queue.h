// A bounded multi-producer, multi-consumer queue. When it is full, Push blocks and TryPush refuses:
// the caller's choice of the two is the queue's policy. Closing wakes everybody; what is queued can
// still be popped. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "libs/base/mutex.h"

namespace nanolane::base {

template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) {}

  // Blocks while the queue is full. False: the queue is closed and `item` was not taken.
  [[nodiscard]] bool Push(T item) {
    {
      MutexLock lock(mutex_);
      not_full_.Wait(mutex_, [this] { return closed_ || items_.size() < capacity_; });
      if (closed_) return false;
      items_.push_back(std::move(item));
    }
    not_empty_.NotifyOne();
    return true;
  }

  // Never blocks. False: the queue is full or closed; `item` is left as it was.
  [[nodiscard]] bool TryPush(T& item) {
    {
      MutexLock lock(mutex_);
      if (closed_ || items_.size() >= capacity_) return false;
      items_.push_back(std::move(item));
    }
    not_empty_.NotifyOne();
    return true;
  }

  // Blocks while the queue is empty. Nothing: the queue is closed and drained.
  [[nodiscard]] std::optional<T> Pop() {
    std::optional<T> item;
    {
      MutexLock lock(mutex_);
      not_empty_.Wait(mutex_, [this] { return closed_ || !items_.empty(); });
      if (items_.empty()) return std::nullopt;
      item = std::move(items_.front());
      items_.pop_front();
    }
    not_full_.NotifyOne();
    return item;
  }

  // Never blocks. Nothing: the queue is empty now.
  [[nodiscard]] std::optional<T> TryPop() {
    std::optional<T> item;
    {
      MutexLock lock(mutex_);
      if (items_.empty()) return std::nullopt;
      item = std::move(items_.front());
      items_.pop_front();
    }
    not_full_.NotifyOne();
    return item;
  }

  void Close() {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    not_full_.NotifyAll();
    not_empty_.NotifyAll();
  }

 private:
  const size_t capacity_;
  Mutex mutex_;
  CondVar not_full_;
  CondVar not_empty_;
  std::deque<T> items_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace nanolane::base
