#include "tests/simulated_gpu/sim_clock.h"

#include <time.h>

#include <atomic>
#include <cerrno>

#include "tests/simulated_gpu/faults.h"

namespace nanolane::sim {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;
// Below it the callback's rate cannot be told from the time that reading it takes.
constexpr int64_t kShortestBaseNs = 1'000'000;

int64_t Read(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * kNanosPerSecond + now.tv_nsec;
}

// The reading that took least is the truest one.
int64_t MeasureRealtimeOffset() {
  int64_t best = 0;
  int64_t shortest = INT64_MAX;
  for (int i = 0; i < 8; ++i) {
    const int64_t before = MonotonicNow();
    const int64_t realtime = Read(CLOCK_REALTIME);
    const int64_t after = MonotonicNow();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = realtime - (before + after) / 2;
  }
  return best;
}

struct ClientClock {
  std::atomic<int64_t> realtime_offset{MeasureRealtimeOffset()};
  std::atomic<CUpti_TimestampCallbackFunc> callback{nullptr};
  std::atomic<int64_t> base_monotonic{0};
  std::atomic<int64_t> base_ticks{0};

  ClientClock() {
    if (GetFaults().foreign_ticks.load() != 0) Use(&ForeignTicks);
  }

  void Use(CUpti_TimestampCallbackFunc function) {
    base_monotonic = MonotonicNow();
    base_ticks = static_cast<int64_t>(function());
    callback = function;
  }
};

ClientClock& GetClientClock() {
  static auto* const clock = new ClientClock;
  return *clock;
}

}  // namespace

int64_t MonotonicNow() { return Read(CLOCK_MONOTONIC); }

void WaitUntil(int64_t monotonic_ns) {
  if (MonotonicNow() >= monotonic_ns) return;
  timespec until{};
  until.tv_sec = monotonic_ns / kNanosPerSecond;
  until.tv_nsec = monotonic_ns % kNanosPerSecond;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

void AlignClientClock() { GetClientClock().realtime_offset = MeasureRealtimeOffset(); }

uint64_t ToClientTime(int64_t monotonic_ns) {
  ClientClock& clock = GetClientClock();
  const CUpti_TimestampCallbackFunc callback = clock.callback.load();
  if (callback == nullptr)
    return static_cast<uint64_t>(monotonic_ns + clock.realtime_offset.load());
  const int64_t now = MonotonicNow();
  const auto ticks = static_cast<int64_t>(callback());
  const int64_t elapsed = now - clock.base_monotonic;
  if (elapsed < kShortestBaseNs) return static_cast<uint64_t>(ticks - (now - monotonic_ns));
  const double rate = static_cast<double>(ticks - clock.base_ticks) / static_cast<double>(elapsed);
  const double back = rate * static_cast<double>(now - monotonic_ns);
  return static_cast<uint64_t>(ticks - static_cast<int64_t>(back));
}

void SetTimestampCallback(CUpti_TimestampCallbackFunc callback) { GetClientClock().Use(callback); }

uint64_t ForeignTicks() { return static_cast<uint64_t>(MonotonicNow()) * 5 / 2; }

}  // namespace nanolane::sim
