#include "services/collector/session/memory_order.h"

namespace nanolane::collector {

void MemoryOrder::Add(const MemoryChange& change, Visit released) {
  held_.emplace(change.record().time_ns, change);
  if (held_.size() > kMaxHeld) ReleaseOldest(released);
}

void MemoryOrder::Release(int64_t now_ns, Visit released) {
  while (!held_.empty() && held_.begin()->first <= now_ns - kWaitNs) ReleaseOldest(released);
}

void MemoryOrder::ReleaseAll(Visit released) {
  while (!held_.empty()) ReleaseOldest(released);
}

void MemoryOrder::ReleaseOldest(Visit released) {
  const auto oldest = held_.extract(held_.begin());
  released(oldest.mapped());
}

}  // namespace nanolane::collector
