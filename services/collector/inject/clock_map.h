// From CUPTI's timestamps to CLOCK_MONOTONIC.
//
// CUPTI's default clock is CLOCK_REALTIME; but once another tool has registered a clock of its own
// in the process (Kineto registers a cycle counter), records carry that one. Which it is, is found
// out by comparing at each start; an unknown clock is taken as linear, measured over the capture.
// The agent's thread alone.
#pragma once

#include <cstdint>

#include "services/collector/inject/clock.h"
#include "services/collector/inject/cupti_library.h"

namespace nanolane::inject {

class ClockMap {
 public:
  using ReadNs = int64_t (*)();

  // `realtime`: reads the wall clock.
  explicit ClockMap(ReadNs realtime = &RealtimeNs) : realtime_(realtime) {}

  // Compares the clocks. False: CUPTI gives no time. Takes 20 ms where the clock is unknown.
  bool Start(const CuptiLibrary& cupti);
  // Again, every so often: sees steps of the wall clock, and measures an unknown clock's rate.
  void Sample();

  int64_t ToMonotonic(uint64_t cupti_time) const;

  bool is_unknown_clock() const { return mode_ == Mode::kLinear; }
  uint32_t steps() const { return steps_; }

 private:
  enum class Mode : uint8_t { kRealtime, kMonotonic, kLinear };
  struct Reading {
    int64_t monotonic;
    int64_t realtime;
    uint64_t cupti;
  };
  bool Read(Reading* reading) const;

  const ReadNs realtime_;
  const CuptiLibrary* cupti_ = nullptr;
  Mode mode_ = Mode::kRealtime;
  Reading first_{};
  Reading last_{};
  double ns_per_tick_ = 1;
  int64_t offset_ = 0;      // realtime - monotonic
  int64_t old_offset_ = 0;  // before the last step
  int64_t step_at_ = 0;     // realtime, by the old offset, at which the last step was seen; 0: none
  uint32_t steps_ = 0;
};

}  // namespace nanolane::inject
