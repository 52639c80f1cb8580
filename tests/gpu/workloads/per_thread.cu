// Compiled with --default-stream per-thread: its launches go through the runtime's per-thread
// entry points, each thread on a stream of its own.
#include <thread>

#include "control.h"
#include "per_thread.h"

__global__ void per_thread_kernel() {}

void LaunchPerThread(int threads, int launches) {
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([launches] {
      for (int j = 0; j < launches; ++j) per_thread_kernel<<<1, 32>>>();
      CHECK_CUDA(cudaStreamSynchronize(cudaStreamPerThread));
    });
  }
  for (std::thread& worker : workers) worker.join();
}
