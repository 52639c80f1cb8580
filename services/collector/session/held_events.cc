#include "services/collector/session/held_events.h"

namespace nanolane::collector {

void HeldEvents::Add(const HeldEvent& held, Visit expired) {
  while (slots_.size() >= kMaxHeld) DropOldest(expired);
  const uint64_t number = first_ + slots_.size();
  slots_.push_back({.held = held});
  ++waiting_;
  const auto [it, added] = chains_.try_emplace(held.correlation, Chain{number, number});
  if (added) return;
  At(it->second.last).next = number;
  it->second.last = number;
}

void HeldEvents::Take(uint32_t correlation, Visit taken) {
  const auto found = chains_.find(correlation);
  if (found == chains_.end()) return;
  uint64_t number = found->second.first;
  chains_.erase(found);
  while (number != 0) {
    Slot& slot = At(number);
    number = slot.next;
    slot.is_done = true;
    --waiting_;
    taken(slot.held);
  }
  while (!slots_.empty() && slots_.front().is_done) {
    slots_.pop_front();
    ++first_;
  }
}

// The oldest slot that is not done is the first of its chain.
void HeldEvents::DropOldest(Visit expired) {
  Slot slot = slots_.front();
  slots_.pop_front();
  ++first_;
  if (slot.is_done) return;
  --waiting_;
  const auto found = chains_.find(slot.held.correlation);
  if (slot.next == 0) {
    chains_.erase(found);
  } else {
    found->second.first = slot.next;
  }
  expired(slot.held);
}

void HeldEvents::Expire(int64_t now_ns, Visit expired) {
  while (!slots_.empty() && (slots_.front().is_done || slots_.front().held.deadline_ns <= now_ns)) {
    DropOldest(expired);
  }
}

}  // namespace nanolane::collector
