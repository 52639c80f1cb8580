// Threads that run what may block, so that gRPC's own threads never do. At most `threads` tasks run
// and `queued` wait; beyond that a task is refused, and its caller says so to the client.
// Thread-safe.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "libs/base/bounded_queue.h"

namespace nanolane::rpc {

class WorkerPool {
 public:
  WorkerPool(size_t threads, size_t queued);
  // Runs what is queued, then ends.
  ~WorkerPool();

  // False: too much waits already; `task` was not taken.
  [[nodiscard]] bool TrySubmit(std::function<void()> task);

 private:
  base::BoundedQueue<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
};

}  // namespace nanolane::rpc
