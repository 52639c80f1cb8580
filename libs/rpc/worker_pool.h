// Threads that run what may block, so that gRPC's own threads never do. At most `threads` tasks run
// and `queued` wait; beyond that a task is refused, and its caller says so to the client.
//
// A thread is started when a task comes and none is idle, and then kept: bounds may be generous,
// for a service that is little used stays small. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "libs/base/mutex.h"

namespace nanolane::rpc {

class WorkerPool {
 public:
  WorkerPool(size_t threads, size_t queued);
  // Runs what is queued, then ends.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False: all threads are busy and too much waits already, the pool ends, or the system gives not
  // even a first thread; `task` was not taken.
  [[nodiscard]] bool TrySubmit(std::function<void()> task);

  // Threads started so far, and those of them that run a task.
  size_t thread_count() const;
  size_t busy_count() const;

 private:
  void Work();
  bool StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t max_threads_;
  const size_t max_queued_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  size_t busy_ ABSL_GUARDED_BY(mutex_) = 0;  // threads that run a task
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace nanolane::rpc
