#include "clients/desktop/model/event_rate.h"

namespace nanolane::desktop {

void EventRate::Note(int64_t now_ns, uint64_t events) {
  if (!samples_.empty() && events < samples_.back().events) samples_.clear();
  if (!samples_.empty() && now_ns - samples_.back().at_ns < kStepNs) return;
  samples_.push_back({now_ns, events});
  while (samples_.size() > 2 && now_ns - samples_[1].at_ns >= kWindowNs) samples_.pop_front();
}

double EventRate::per_second() const {
  if (samples_.size() < 2) return 0;
  const Sample& first = samples_.front();
  const Sample& last = samples_.back();
  return static_cast<double>(last.events - first.events) * 1e9 /
         static_cast<double>(last.at_ns - first.at_ns);
}

}  // namespace nanolane::desktop
