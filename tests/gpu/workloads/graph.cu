// A CUDA graph of seven kernels and one copy, made when the process starts, long before any
// capture.
//
//   replay N    launches the graph N times and waits → kernels, copies, bytes
#include "control.h"

namespace {
constexpr int kKernels = 7;
constexpr size_t kBytes = 256 << 10;
}  // namespace

template <int kNode>
__global__ void graph_node(float* values) {
  values[threadIdx.x] = values[threadIdx.x] * 0.5f + kNode;
}

int main() {
  float* device = nullptr;
  float* host = nullptr;
  CHECK_CUDA(cudaMalloc(&device, kBytes));
  CHECK_CUDA(cudaMallocHost(&host, kBytes));
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK_CUDA(cudaMemcpyAsync(device, host, kBytes, cudaMemcpyHostToDevice, stream));
  graph_node<0><<<1, 64, 0, stream>>>(device);
  graph_node<1><<<1, 64, 0, stream>>>(device);
  graph_node<2><<<1, 64, 0, stream>>>(device);
  graph_node<3><<<1, 64, 0, stream>>>(device);
  graph_node<4><<<1, 64, 0, stream>>>(device);
  graph_node<5><<<1, 64, 0, stream>>>(device);
  graph_node<6><<<1, 64, 0, stream>>>(device);
  cudaGraph_t graph;
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t instance;
  CHECK_CUDA(cudaGraphInstantiate(&instance, graph, 0));
  CHECK_CUDA(cudaGraphLaunch(instance, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));

  using gpu_check::Field;
  gpu_check::Serve({{"replay", [&](const gpu_check::Arguments& arguments) {
                       const int64_t times = arguments.at(0);
                       for (int64_t i = 0; i < times; ++i) {
                         CHECK_CUDA(cudaGraphLaunch(instance, stream));
                       }
                       CHECK_CUDA(cudaStreamSynchronize(stream));
                       return gpu_check::Join({Field("kernels", times * kKernels),
                                               Field("copies", times),
                                               Field("bytes", times * int64_t{kBytes})});
                     }}});
  return 0;
}
