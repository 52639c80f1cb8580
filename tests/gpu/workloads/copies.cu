// Every kind of copy, memset, allocation, synchronization and range, each a known number of times.
//
//   run    does all of it once → what there is to be seen: count and bytes by kind
//
// Sizes are primes times 4, so that an allocation can be told by its size.
#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

#include <cstring>

#include "control.h"
#include "per_thread.h"

__global__ void touch(char* bytes) { bytes[threadIdx.x] = 1; }

namespace {

using gpu_check::Field;
using gpu_check::Join;

constexpr size_t kBytes = 4 * 262'147;
constexpr size_t kPitch = 1024;
constexpr size_t kWidth = 640;
constexpr size_t kRows = 256;
constexpr int kPerThreadThreads = 4;
constexpr int kPerThreadLaunches = 25;

struct Buffers {
  char* device = nullptr;
  char* other = nullptr;
  char* pinned = nullptr;
  char* pinned_other = nullptr;
  std::vector<char> pageable = std::vector<char>(kBytes);
  std::vector<char> pageable_other = std::vector<char>(kBytes);
};

// Count and bytes of one kind.
struct Tally {
  int64_t count = 0;
  int64_t bytes = 0;
  void Add(size_t size) {
    ++count;
    bytes += static_cast<int64_t>(size);
  }
  std::string Text(const char* name) const {
    return std::string("\"") + name + "\":[" + std::to_string(count) + "," + std::to_string(bytes) +
           "]";
  }
};

std::string Copies(Buffers& buffers, cudaStream_t stream) {
  Tally h2d, d2h, d2d, h2h;
  const auto both_ways = [&](char* host, size_t bytes) {
    CHECK_CUDA(cudaMemcpy(buffers.device, host, bytes, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(host, buffers.device, bytes, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaMemcpyAsync(buffers.device, host, bytes, cudaMemcpyHostToDevice, stream));
    CHECK_CUDA(cudaMemcpyAsync(host, buffers.device, bytes, cudaMemcpyDeviceToHost, stream));
    for (int i = 0; i < 2; ++i) h2d.Add(bytes), d2h.Add(bytes);
  };
  both_ways(buffers.pageable.data(), 1 << 10);
  both_ways(buffers.pageable.data(), kBytes);
  both_ways(buffers.pinned, 1 << 10);
  both_ways(buffers.pinned, kBytes);
  for (int i = 0; i < 5; ++i) {
    CHECK_CUDA(
        cudaMemcpyAsync(buffers.other, buffers.device, kBytes, cudaMemcpyDeviceToDevice, stream));
    d2d.Add(kBytes);
  }
  CHECK_CUDA(cudaMemcpy2DAsync(buffers.device, kPitch, buffers.pinned, kWidth, kWidth, kRows,
                               cudaMemcpyHostToDevice, stream));
  h2d.Add(kWidth * kRows);
  CHECK_CUDA(cudaMemcpy2DAsync(buffers.pinned, kWidth, buffers.device, kPitch, kWidth, kRows,
                               cudaMemcpyDeviceToHost, stream));
  d2h.Add(kWidth * kRows);
  for (int i = 0; i < 3; ++i) {
    CHECK_CUDA(cudaMemcpyAsync(buffers.pinned_other, buffers.pinned, kBytes, cudaMemcpyHostToHost,
                               stream));
    h2h.Add(kBytes);
  }
  return Join({h2d.Text("h2d"), d2h.Text("d2h"), d2d.Text("d2d"), h2h.Text("h2h")});
}

std::string Memsets(Buffers& buffers, cudaStream_t stream) {
  Tally memset;
  for (int i = 0; i < 4; ++i) {
    CHECK_CUDA(cudaMemset(buffers.device, i, kBytes));
    memset.Add(kBytes);
    CHECK_CUDA(cudaMemsetAsync(buffers.other, i, 4096, stream));
    memset.Add(4096);
  }
  return memset.Text("memset");
}

// Sizes of what is allocated and freed again, each once.
std::string Allocations(cudaStream_t stream) {
  std::string sizes;
  const auto note = [&](size_t bytes) {
    sizes += (sizes.empty() ? "" : ",") + std::to_string(bytes);
  };
  for (const size_t bytes : {4UL * 3'145'739, 4UL * 3'276'803, 4UL * 3'407'873}) {
    void* memory = nullptr;
    CHECK_CUDA(cudaMalloc(&memory, bytes));
    CHECK_CUDA(cudaFree(memory));
    note(bytes);
  }
  for (const size_t bytes : {4UL * 3'538'951, 4UL * 3'670'027}) {
    void* memory = nullptr;
    CHECK_CUDA(cudaMallocAsync(&memory, bytes, stream));
    CHECK_CUDA(cudaFreeAsync(memory, stream));
    note(bytes);
  }
  return "\"allocations\":[" + sizes + "]";
}

std::string Synchronizations(cudaStream_t stream, cudaStream_t other) {
  cudaEvent_t event;
  CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK_CUDA(cudaEventRecord(event, stream));
  for (int i = 0; i < 5; ++i) CHECK_CUDA(cudaStreamSynchronize(stream));
  for (int i = 0; i < 6; ++i) CHECK_CUDA(cudaEventSynchronize(event));
  for (int i = 0; i < 7; ++i) CHECK_CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 8; ++i) {
    if (cuCtxSynchronize() != CUDA_SUCCESS) std::_Exit(3);
  }
  for (int i = 0; i < 9; ++i) CHECK_CUDA(cudaStreamWaitEvent(other, event, 0));
  // LaunchPerThread() adds one of a stream for each of its threads.
  return "\"sync\":{\"stream\":" + std::to_string(5 + kPerThreadThreads) +
         ",\"event\":6,\"device\":7,\"context\":8,\"wait_event\":9}";
}

nvtxStringHandle_t g_registered;

std::string Ranges(nvtxDomainHandle_t domain) {
  for (int i = 0; i < 10; ++i) {
    nvtxRangePushA("outer");
    nvtxRangePushA("inner");
    nvtxRangePop();
    nvtxRangePop();
  }
  for (int i = 0; i < 4; ++i) nvtxMarkA("mark");
  const nvtxRangeId_t first = nvtxRangeStartA("overlap");
  const nvtxRangeId_t second = nvtxRangeStartA("overlap");
  nvtxRangeEnd(first);
  nvtxRangeEnd(second);
  nvtxEventAttributes_t attributes;
  std::memset(&attributes, 0, sizeof(attributes));
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.colorType = NVTX_COLOR_ARGB;
  attributes.color = 0xFF336699;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = g_registered;
  for (int i = 0; i < 3; ++i) {
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
  }
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "domain mark";
  nvtxDomainMarkEx(domain, &attributes);
  return "\"nvtx\":{\"outer\":10,\"inner\":10,\"mark\":4,\"overlap\":2,\"registered name\":3,"
         "\"domain mark\":1}";
}

}  // namespace

int main() {
  Buffers buffers;
  CHECK_CUDA(cudaMalloc(&buffers.device, kBytes));
  CHECK_CUDA(cudaMalloc(&buffers.other, kBytes));
  CHECK_CUDA(cudaMallocHost(&buffers.pinned, kBytes));
  CHECK_CUDA(cudaMallocHost(&buffers.pinned_other, kBytes));
  cudaStream_t stream, other;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("gpu_check.domain");
  // Registered before any capture: the name must be known in all of them.
  g_registered = nvtxDomainRegisterStringA(domain, "registered name");
  touch<<<1, 32, 0, stream>>>(buffers.device);
  CHECK_CUDA(cudaDeviceSynchronize());

  gpu_check::Serve({{"run", [&](const gpu_check::Arguments&) {
                       std::string body = Join({Copies(buffers, stream), Memsets(buffers, stream),
                                                Allocations(stream),
                                                Synchronizations(stream, other), Ranges(domain)});
                       for (int i = 0; i < 11; ++i) touch<<<1, 32, 0, stream>>>(buffers.device);
                       LaunchPerThread(kPerThreadThreads, kPerThreadLaunches);
                       return Join({body, Field("touch", int64_t{11}),
                                    Field("per_thread_threads", int64_t{kPerThreadThreads}),
                                    Field("per_thread_launches", int64_t{kPerThreadLaunches})});
                     }}});
  return 0;
}
