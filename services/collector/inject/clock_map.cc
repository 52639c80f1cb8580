#include "services/collector/inject/clock_map.h"

#include <ctime>

#include "services/collector/inject/clock.h"

namespace nanolane::inject {
namespace {

constexpr int64_t kSameClockNs = 2'000'000;
// Readings of the two clocks differ by what passes between them; beyond this it is a step.
constexpr int64_t kStepNs = 20'000;

int64_t Distance(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

}  // namespace

// The tightest of several: the thread may be taken off its core between two readings.
bool ClockMap::Read(Reading* reading) const {
  int64_t best = INT64_MAX;
  for (int i = 0; i < 7; ++i) {
    const int64_t before = MonotonicNs();
    uint64_t cupti = 0;
    if (cupti_->get_timestamp(&cupti) != CUPTI_SUCCESS) return false;
    const int64_t realtime = realtime_();
    const int64_t after = MonotonicNs();
    if (after - before >= best) continue;
    best = after - before;
    *reading = {.monotonic = before + (after - before) / 2, .realtime = realtime, .cupti = cupti};
  }
  return true;
}

bool ClockMap::Start(const CuptiLibrary& cupti) {
  cupti_ = &cupti;
  steps_ = 0;
  step_at_ = 0;
  if (!Read(&first_)) return false;
  last_ = first_;
  offset_ = first_.realtime - first_.monotonic;
  const auto time = static_cast<int64_t>(first_.cupti);
  if (Distance(time, first_.realtime) < kSameClockNs) {
    mode_ = Mode::kRealtime;
    return true;
  }
  if (Distance(time, first_.monotonic) < kSameClockNs) {
    mode_ = Mode::kMonotonic;
    return true;
  }
  mode_ = Mode::kLinear;
  const timespec pause = {.tv_sec = 0, .tv_nsec = 20'000'000};
  nanosleep(&pause, nullptr);
  Sample();
  return last_.cupti > first_.cupti;
}

void ClockMap::Sample() {
  Reading reading;
  if (!Read(&reading)) return;
  last_ = reading;
  const int64_t offset = reading.realtime - reading.monotonic;
  if (mode_ == Mode::kRealtime && Distance(offset, offset_) > kStepNs) {
    old_offset_ = offset_;
    step_at_ = reading.monotonic + old_offset_;
    offset_ = offset;
    ++steps_;
  }
  if (mode_ == Mode::kLinear && reading.cupti > first_.cupti) {
    ns_per_tick_ = static_cast<double>(reading.monotonic - first_.monotonic) /
                   static_cast<double>(reading.cupti - first_.cupti);
  }
}

int64_t ClockMap::ToMonotonic(uint64_t cupti_time) const {
  const auto time = static_cast<int64_t>(cupti_time);
  switch (mode_) {
    case Mode::kMonotonic: return time;
    case Mode::kRealtime: {
      // Around a step some times are ambiguous: those that the old clock gave before it was seen
      // are read by the old one, when the step went forward.
      const bool before_step = step_at_ != 0 && offset_ > old_offset_ && time <= step_at_;
      return time - (before_step ? old_offset_ : offset_);
    }
    case Mode::kLinear: break;
  }
  const auto ticks = static_cast<double>(time - static_cast<int64_t>(last_.cupti));
  return last_.monotonic + static_cast<int64_t>(ticks * ns_per_tick_);
}

}  // namespace nanolane::inject
