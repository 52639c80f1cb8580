// Two GPUs in one process: a thread each that launches, and copies from one to the other.
//
//   run N    N kernels on each GPU, N copies each way, waits → gpus, kernels, copies, bytes
//
// With one GPU, "run" answers gpus 1 and does nothing.
#include <thread>

#include "control.h"

namespace {
constexpr size_t kBytes = 1 << 20;
}  // namespace

template <int kGpu>
__global__ void gpu_kernel() {}

int main() {
  int count = 0;
  CHECK_CUDA(cudaGetDeviceCount(&count));
  cudaStream_t streams[2] = {};
  void* memory[2] = {};
  const int used = count < 2 ? count : 2;
  for (int gpu = 0; gpu < used; ++gpu) {
    CHECK_CUDA(cudaSetDevice(gpu));
    CHECK_CUDA(cudaStreamCreateWithFlags(&streams[gpu], cudaStreamNonBlocking));
    CHECK_CUDA(cudaMalloc(&memory[gpu], kBytes));
    // Where the GPUs cannot reach each other, copies go through the host.
    if (used == 2 && cudaDeviceEnablePeerAccess(1 - gpu, 0) != cudaSuccess) cudaGetLastError();
  }
  const auto run = [&](int gpu, int64_t times) {
    CHECK_CUDA(cudaSetDevice(gpu));
    for (int64_t i = 0; i < times; ++i) {
      if (gpu == 0) {
        gpu_kernel<0><<<1, 1, 0, streams[0]>>>();
      } else {
        gpu_kernel<1><<<1, 1, 0, streams[1]>>>();
      }
      CHECK_CUDA(cudaMemcpyPeerAsync(memory[1 - gpu], 1 - gpu, memory[gpu], gpu, kBytes,
                                     streams[gpu]));
    }
    CHECK_CUDA(cudaStreamSynchronize(streams[gpu]));
  };
  using gpu_check::Field;
  gpu_check::Serve({{"run", [&](const gpu_check::Arguments& arguments) {
                       const int64_t times = arguments.at(0);
                       if (used == 2) {
                         std::thread other([&] { run(1, times); });
                         run(0, times);
                         other.join();
                       }
                       return gpu_check::Join({Field("gpus", static_cast<int64_t>(used)),
                                               Field("kernels", times), Field("copies", 2 * times),
                                               Field("bytes", 2 * times * int64_t{kBytes})});
                     }}});
  return 0;
}
