#include "libs/rpc/worker_pool.h"

#include <system_error>
#include <utility>

namespace nanolane::rpc {

WorkerPool::WorkerPool(size_t threads, size_t queued)
    : max_threads_(threads), max_queued_(queued) {}

WorkerPool::~WorkerPool() {
  std::vector<std::thread> threads;
  {
    base::MutexLock lock(mutex_);
    ending_ = true;  // from here on no thread is started
    threads.swap(threads_);
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads) thread.join();
}

bool WorkerPool::TrySubmit(std::function<void()> task) {
  base::MutexLock lock(mutex_);
  // Tasks that wait for a free thread to take them, or for one to start, are not queued yet.
  const size_t free = max_threads_ - busy_;
  if (ending_ || tasks_.size() >= free + max_queued_) return false;
  const size_t idle = threads_.size() - busy_;
  if (tasks_.size() >= idle && threads_.size() < max_threads_ && !StartThread() &&
      threads_.empty()) {
    return false;
  }
  tasks_.push_back(std::move(task));
  changed_.NotifyOne();
  return true;
}

bool WorkerPool::StartThread() {
  try {
    threads_.emplace_back([this] { Work(); });
    return true;
  } catch (const std::system_error&) {  // the system has no more; those that there are go on
    return false;
  }
}

void WorkerPool::Work() {
  for (;;) {
    std::function<void()> task;
    {
      base::MutexLock lock(mutex_);
      changed_.Wait(mutex_,
                    [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !tasks_.empty() || ending_; });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      ++busy_;
    }
    task();
    task = nullptr;  // what it holds goes before the thread counts as free
    base::MutexLock lock(mutex_);
    --busy_;
  }
}

size_t WorkerPool::thread_count() const {
  base::MutexLock lock(mutex_);
  return threads_.size();
}

size_t WorkerPool::busy_count() const {
  base::MutexLock lock(mutex_);
  return busy_;
}

}  // namespace nanolane::rpc
