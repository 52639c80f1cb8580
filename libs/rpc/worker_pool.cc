#include "libs/rpc/worker_pool.h"

namespace nanolane::rpc {

WorkerPool::WorkerPool(size_t threads, size_t queued) : tasks_(queued) {
  for (size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] {
      while (auto task = tasks_.Pop()) (*task)();
    });
  }
}

WorkerPool::~WorkerPool() {
  tasks_.Close();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::TrySubmit(std::function<void()> task) { return tasks_.TryPush(task); }

}  // namespace nanolane::rpc
