// A GPU that is never idle: one thread keeps a queue of kernels on one stream filled, each of them
// as long as asked, and each notes when it began and ended.
//
//   start DEPTH US   kernels of US microseconds, at most DEPTH of them queued
//   stop                                    → launched
//   mark             from here on
//   idle             since the mark         → kernels, longest_idle_ns, longest_launch_ns
//   launch N         N empty kernels on another stream, then waits for them → kernels
//   hold MS          a kernel of MS milliseconds, which a thread of its own waits for
//   held                                    → running: whether that thread still waits
//
// "idle" is the time on the GPU from the end of a kernel to the beginning of the next one.
#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "control.h"

namespace {

constexpr uint64_t kLog = 1 << 16;

struct Span {
  uint64_t begin_ns;
  uint64_t end_ns;
};

__device__ uint64_t GpuNs() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void busy_kernel(Span* span, uint64_t ns) {
  const uint64_t begin = GpuNs();
  while (GpuNs() - begin < ns) {
  }
  if (span != nullptr) *span = {begin, GpuNs()};
}

__global__ void empty_kernel() {}

class Queue {
 public:
  Queue() {
    CHECK_CUDA(cudaHostAlloc(&spans_, kLog * sizeof(Span), cudaHostAllocDefault));
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  void Start(uint64_t depth, uint64_t ns) {
    stop_.store(false);
    thread_ = std::thread([this, depth, ns] { Fill(depth, ns); });
  }
  uint64_t Stop() {
    stop_.store(true);
    if (thread_.joinable()) thread_.join();
    CHECK_CUDA(cudaStreamSynchronize(stream_));
    return done_.load();
  }
  void Mark() {
    longest_launch_ns_.store(0);
    mark_ = done_.load();
  }
  std::string Idle() const {
    const uint64_t end = done_.load();
    const uint64_t begin = std::max(mark_, end > kLog ? end - kLog : 0);
    uint64_t longest = 0;
    for (uint64_t i = begin + 1; i < end; ++i) {
      const uint64_t before = spans_[(i - 1) % kLog].end_ns;
      longest = std::max(longest, spans_[i % kLog].begin_ns - before);
    }
    return gpu_check::Join({gpu_check::Field("kernels", static_cast<int64_t>(end - begin)),
                            gpu_check::Field("longest_idle_ns", static_cast<int64_t>(longest)),
                            gpu_check::Field("longest_launch_ns", longest_launch_ns_.load())});
  }

 private:
  void Fill(uint64_t depth, uint64_t ns) {
    std::vector<cudaEvent_t> events(depth);
    for (cudaEvent_t& event : events) {
      CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
    const uint64_t first = done_.load();
    for (uint64_t i = first; !stop_.load(); ++i) {
      if (i - first >= depth) {
        CHECK_CUDA(cudaEventSynchronize(events[i % depth]));
        done_.store(i - depth + 1);
      }
      const int64_t begin = gpu_check::NowNs();
      busy_kernel<<<1, 1, 0, stream_>>>(&spans_[i % kLog], ns);
      CHECK_CUDA(cudaEventRecord(events[i % depth], stream_));
      const int64_t took = gpu_check::NowNs() - begin;
      if (took > longest_launch_ns_.load()) longest_launch_ns_.store(took);
    }
    CHECK_CUDA(cudaStreamSynchronize(stream_));
    for (cudaEvent_t& event : events) CHECK_CUDA(cudaEventDestroy(event));
  }

  Span* spans_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> done_{0};
  std::atomic<int64_t> longest_launch_ns_{0};
  uint64_t mark_ = 0;
};

}  // namespace

int main() {
  using gpu_check::Arguments;
  CHECK_CUDA(cudaFree(nullptr));
  Queue queue;
  cudaStream_t side;
  cudaStream_t held;
  CHECK_CUDA(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  CHECK_CUDA(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
  std::thread holder;
  std::atomic<bool> holds{false};
  gpu_check::Serve({
      {"start",
       [&](const Arguments& arguments) {
         queue.Start(arguments.at(0), arguments.at(1) * 1000);
         return std::string();
       }},
      {"stop",
       [&](const Arguments&) {
         return gpu_check::Field("launched", static_cast<int64_t>(queue.Stop()));
       }},
      {"mark",
       [&](const Arguments&) {
         queue.Mark();
         return std::string();
       }},
      {"idle", [&](const Arguments&) { return queue.Idle(); }},
      {"launch",
       [&](const Arguments& arguments) {
         for (int64_t i = 0; i < arguments.at(0); ++i) empty_kernel<<<1, 1, 0, side>>>();
         CHECK_CUDA(cudaStreamSynchronize(side));
         return gpu_check::Field("kernels", arguments.at(0));
       }},
      {"hold",
       [&](const Arguments& arguments) {
         if (holder.joinable()) holder.join();
         holds.store(true);
         const uint64_t ns = arguments.at(0) * 1'000'000;
         holder = std::thread([&holds, held, ns] {
           busy_kernel<<<1, 1, 0, held>>>(nullptr, ns);
           CHECK_CUDA(cudaStreamSynchronize(held));
           holds.store(false);
         });
         return std::string();
       }},
      {"held",
       [&](const Arguments&) {
         return gpu_check::Field("running", static_cast<int64_t>(holds.load() ? 1 : 0));
       }},
  });
  queue.Stop();
  if (holder.joinable()) holder.join();
  return 0;
}
