// Kernels that do nothing, launched as fast as several threads can, each on its own stream.
//
//   storm THREADS LOG_ENTRIES
//
// Each launching thread keeps the times before its last LOG_ENTRIES launches, so that for any
// window of time it is known how many launches lay in it, give or take the one that was under way.
//
//   launch N            N launches, then waits for them       → launched, seconds
//   start               launches until it is told to stop
//   stop                                                      → launched, seconds
//   window FROM TO      launches within [FROM, TO)            → min, max, complete
//   rate FROM TO                                              → per_second
//   gap FROM TO         longest pause between two launches    → max_gap_ns, at_ns
//   bench ROUNDS CORE   one thread on one core, 1,000 launches a round
//                                                             → cpu_ns, wall_ns (medians a launch)
//   exit                exits at once, with work of all threads under way
//
// Times are ns of CLOCK_MONOTONIC.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "control.h"

__global__ void null_kernel() {}

namespace {

using gpu_check::Arguments;
using gpu_check::Field;
using gpu_check::Join;
using gpu_check::NowNs;

// Waits now and then, so that the device never lags far behind the threads.
constexpr uint64_t kLaunchesBetweenWaits = 4096;

// Once the process exits, launching threads stand still: CUDA must not be called while it is taken
// down, and its errors must not end the process in another way.
std::atomic<bool> g_exiting{false};

void WaitFor(cudaStream_t stream) {
  const cudaError_t error = cudaStreamSynchronize(stream);
  while (error != cudaSuccess && g_exiting.load()) pause();
  CHECK_CUDA(error);
}

class Launcher {
 public:
  explicit Launcher(size_t log_entries) : log_(log_entries, 0) {
    thread_ = std::thread([this] { Loop(); });
  }
  ~Launcher() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
    }
    Stop();
    changed_.notify_all();
    thread_.join();
  }

  // Launches `count` kernels; 0: until Stop().
  void Start(uint64_t count) {
    std::lock_guard<std::mutex> lock(mutex_);
    left_ = count;
    stop_.store(false);
    running_ = true;
    changed_.notify_all();
  }
  void Stop() { stop_.store(true); }
  // Returns once nothing is launched and the device has done everything.
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !running_; });
  }
  uint64_t launched() const { return written_.load(std::memory_order_acquire); }

  // The times before launches in [from, to), and whether the log reaches back to `from`. Entries
  // that the thread may be overwriting are left alone.
  std::vector<int64_t> Times(int64_t from, int64_t to, bool& complete, int64_t& before) const {
    const uint64_t end = launched();
    const uint64_t margin = log_.size() / 8;
    const uint64_t begin = end > log_.size() - margin ? end - (log_.size() - margin) : 0;
    std::vector<int64_t> times;
    before = 0;
    complete = begin == 0 || log_[begin % log_.size()] <= from;
    for (uint64_t i = begin; i < end; ++i) {
      const int64_t time = log_[i % log_.size()];
      if (time < from) before = time;
      if (time >= from && time < to) times.push_back(time);
      if (time >= to) break;
    }
    return times;
  }

 private:
  void Loop() {
    cudaStream_t stream;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (;;) {
      uint64_t count;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return running_ || ending_; });
        if (ending_) break;
        count = left_;
      }
      Launch(stream, count);
      WaitFor(stream);
      std::lock_guard<std::mutex> lock(mutex_);
      running_ = false;
      changed_.notify_all();
    }
  }

  void Launch(cudaStream_t stream, uint64_t count) {
    uint64_t at = written_.load(std::memory_order_relaxed);
    for (uint64_t i = 0; count == 0 || i < count; ++i) {
      if (stop_.load(std::memory_order_relaxed)) break;
      while (g_exiting.load(std::memory_order_relaxed)) pause();
      log_[at % log_.size()] = NowNs();
      null_kernel<<<1, 1, 0, stream>>>();
      written_.store(++at, std::memory_order_release);
      if (count == 0 && i % kLaunchesBetweenWaits == 0) WaitFor(stream);
    }
  }

  std::vector<int64_t> log_;
  std::atomic<uint64_t> written_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool running_ = false;
  bool ending_ = false;
  uint64_t left_ = 0;
  std::thread thread_;
};

class Storm {
 public:
  Storm(size_t threads, size_t log_entries) {
    for (size_t i = 0; i < threads; ++i) {
      launchers_.push_back(std::make_unique<Launcher>(log_entries));
    }
  }

  std::string Launch(const Arguments& arguments) {
    const uint64_t count = static_cast<uint64_t>(arguments.at(0));
    const int64_t begin = NowNs();
    for (size_t i = 0; i < launchers_.size(); ++i) {
      const uint64_t share = count * (i + 1) / launchers_.size() - count * i / launchers_.size();
      if (share > 0) launchers_[i]->Start(share);
    }
    for (const auto& launcher : launchers_) launcher->Wait();
    return Join({Field("launched", static_cast<int64_t>(count)), Seconds(begin)});
  }

  std::string Start(const Arguments&) {
    begin_ = NowNs();
    before_ = Launched();
    for (const auto& launcher : launchers_) launcher->Start(0);
    return Field("started_ns", begin_);
  }

  std::string Stop(const Arguments&) {
    for (const auto& launcher : launchers_) launcher->Stop();
    for (const auto& launcher : launchers_) launcher->Wait();
    return Join({Field("launched", Launched() - before_), Seconds(begin_)});
  }

  std::string Window(const Arguments& arguments) const {
    int64_t least = 0;
    int64_t most = 0;
    bool all_complete = true;
    for (const auto& launcher : launchers_) {
      bool complete = false;
      int64_t before = 0;
      const auto times = launcher->Times(arguments.at(0), arguments.at(1), complete, before);
      const int64_t count = static_cast<int64_t>(times.size());
      // The last one before the window and the last one in it may have been under way at its edges.
      least += std::max<int64_t>(0, count - 1);
      most += count + (before != 0 ? 1 : 0);
      all_complete = all_complete && complete;
    }
    return Join({Field("min", least), Field("max", most),
                 Field("complete", static_cast<int64_t>(all_complete))});
  }

  std::string Rate(const Arguments& arguments) const {
    int64_t count = 0;
    for (const auto& launcher : launchers_) {
      bool complete = false;
      int64_t before = 0;
      const auto times = launcher->Times(arguments.at(0), arguments.at(1), complete, before);
      count += static_cast<int64_t>(times.size());
    }
    const double seconds = static_cast<double>(arguments.at(1) - arguments.at(0)) / 1e9;
    return Field("per_second", static_cast<double>(count) / seconds);
  }

  std::string Gap(const Arguments& arguments) const {
    int64_t longest = 0;
    int64_t at = 0;
    for (const auto& launcher : launchers_) {
      bool complete = false;
      int64_t before = 0;
      const auto times = launcher->Times(arguments.at(0), arguments.at(1), complete, before);
      int64_t last = before;
      for (const int64_t time : times) {
        if (last != 0 && time - last > longest) {
          longest = time - last;
          at = last;
        }
        last = time;
      }
    }
    return Join({Field("max_gap_ns", longest), Field("at_ns", at)});
  }

  std::string Bench(const Arguments& arguments) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<size_t>(arguments.at(1)), &cores);
    sched_setaffinity(0, sizeof(cores), &cores);  // the calling thread alone
    cudaStream_t stream;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    constexpr int kLaunches = 1000;
    std::vector<double> cpu;
    std::vector<double> wall;
    for (int64_t round = 0; round < arguments.at(0); ++round) {
      const int64_t cpu_begin = gpu_check::ClockNs(CLOCK_THREAD_CPUTIME_ID);
      const int64_t wall_begin = NowNs();
      for (int i = 0; i < kLaunches; ++i) null_kernel<<<1, 1, 0, stream>>>();
      wall.push_back(static_cast<double>(NowNs() - wall_begin) / kLaunches);
      cpu.push_back(static_cast<double>(gpu_check::ClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu_begin) /
                    kLaunches);
      CHECK_CUDA(cudaStreamSynchronize(stream));
    }
    CHECK_CUDA(cudaStreamDestroy(stream));
    return Join({Field("cpu_ns", Median(cpu)), Field("wall_ns", Median(wall))});
  }

 private:
  static double Median(std::vector<double>& values) {
    if (values.empty()) return 0;
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
  }

  static std::string Seconds(int64_t begin) {
    return Field("seconds", static_cast<double>(NowNs() - begin) / 1e9);
  }

  int64_t Launched() const {
    int64_t sum = 0;
    for (const auto& launcher : launchers_) sum += static_cast<int64_t>(launcher->launched());
    return sum;
  }

  std::vector<std::unique_ptr<Launcher>> launchers_;
  int64_t begin_ = 0;
  int64_t before_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const size_t threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  const size_t log_entries = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1 << 16;
  CHECK_CUDA(cudaFree(nullptr));
  Storm storm(threads, log_entries);
  storm.Launch({static_cast<int64_t>(threads) * 1000});
  gpu_check::Serve({
      {"launch", [&](const Arguments& arguments) { return storm.Launch(arguments); }},
      {"start", [&](const Arguments& arguments) { return storm.Start(arguments); }},
      {"stop", [&](const Arguments& arguments) { return storm.Stop(arguments); }},
      {"window", [&](const Arguments& arguments) { return storm.Window(arguments); }},
      {"rate", [&](const Arguments& arguments) { return storm.Rate(arguments); }},
      {"gap", [&](const Arguments& arguments) { return storm.Gap(arguments); }},
      {"bench", [&](const Arguments& arguments) { return storm.Bench(arguments); }},
      {"exit",
       [](const Arguments&) -> std::string {
         g_exiting.store(true);
         usleep(2000);  // for launches that are under way
         std::exit(0);
       }},
  });
  return 0;
}
