// What a process says of its own capture: how far it is, what it wrote and what it lost. Counters
// only grow; one that falls is not believed. Thread-compatible.
#pragma once

#include <array>
#include <cstdint>

#include "services/collector/ring/ring_memory.h"

namespace nanolane::collector {

class RingCounters {
 public:
  using ByKind = std::array<uint64_t, wire::kKindSlots>;

  // Takes the counters as they are now.
  void Update(const wire::RingHeader& header);

  const ByKind& produced() const { return produced_; }
  const std::array<ByKind, wire::kLossReasons>& lost() const { return lost_; }
  // Readings that were not believed.
  uint64_t decreases() const { return decreases_; }

 private:
  void Raise(uint64_t& known, const std::atomic<uint64_t>& now);

  ByKind produced_ = {};
  std::array<ByKind, wire::kLossReasons> lost_ = {};
  uint64_t decreases_ = 0;
};

struct RingStatus {
  wire::RingState state = wire::RingState::kFresh;
  wire::StopReason stop_reason = wire::StopReason::kNone;
  int64_t on_ns = 0;
  int64_t off_ns = 0;
  uint32_t cupti_version = 0;
  uint32_t kinds_on = 0;
};

// Values that are not known are read as the first ones.
RingStatus ReadStatus(const wire::RingHeader& header);

}  // namespace nanolane::collector
