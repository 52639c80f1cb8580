#include "services/collector/ring/ring_counters.h"

namespace nanolane::collector {

void RingCounters::Raise(uint64_t& known, const std::atomic<uint64_t>& now) {
  const uint64_t value = now.load(std::memory_order_relaxed);
  if (value >= known) {
    known = value;
  } else {
    ++decreases_;
  }
}

void RingCounters::Update(const wire::RingHeader& header) {
  for (size_t kind = 0; kind < wire::kKindSlots; ++kind) {
    Raise(produced_[kind], header.produced[kind]);
    for (size_t reason = 0; reason < wire::kLossReasons; ++reason) {
      Raise(lost_[reason][kind], header.lost[reason][kind]);
    }
  }
}

RingStatus ReadStatus(const wire::RingHeader& header) {
  RingStatus status;
  // First: what was written before it is then there.
  const uint32_t state = header.state.load(std::memory_order_acquire);
  if (state <= static_cast<uint32_t>(wire::RingState::kStopped)) {
    status.state = static_cast<wire::RingState>(state);
  }
  const uint32_t reason = header.stop_reason.load(std::memory_order_relaxed);
  if (reason <= static_cast<uint32_t>(wire::StopReason::kCuptiFailed)) {
    status.stop_reason = static_cast<wire::StopReason>(reason);
  }
  status.on_ns = header.on_ns.load(std::memory_order_relaxed);
  status.off_ns = header.off_ns.load(std::memory_order_relaxed);
  status.cupti_version = header.cupti_version.load(std::memory_order_relaxed);
  status.kinds_on = header.kinds_on.load(std::memory_order_relaxed) & wire::kAllKinds;
  return status;
}

}  // namespace nanolane::collector
