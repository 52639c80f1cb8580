// How many events a second come of a session that is being recorded: over the last few seconds, so
// that neither a burst nor a pause of one frame shows. Pure.
#pragma once

#include <cstdint>
#include <deque>

namespace nanolane::desktop {

class EventRate {
 public:
  static constexpr int64_t kWindowNs = 4'000'000'000;
  static constexpr int64_t kStepNs = 250'000'000;  // between samples

  // `events` have come until `now_ns` (monotonic). A count that falls begins anew.
  void Note(int64_t now_ns, uint64_t events);
  // Over the samples of the window; 0 until there are two.
  double per_second() const;

 private:
  struct Sample {
    int64_t at_ns = 0;
    uint64_t events = 0;
  };
  std::deque<Sample> samples_;
};

}  // namespace nanolane::desktop
