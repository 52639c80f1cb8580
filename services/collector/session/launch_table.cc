#include "services/collector/session/launch_table.h"

namespace nanolane::collector {

void LaunchTable::Add(const Launch& launch, Visit dropped) {
  by_correlation_[launch.correlation] = first_ + launches_.size();
  launches_.push_back(launch);
  while (launches_.size() > kMaxLaunches ||
         (launches_.size() > kMatchedLaunches && launches_.front().is_matched)) {
    DropOldest(dropped);
  }
}

Launch* LaunchTable::Find(uint32_t correlation) {
  const auto found = by_correlation_.find(correlation);
  return found == by_correlation_.end() ? nullptr : &launches_[found->second - first_];
}

void LaunchTable::DropOldest(Visit dropped) {
  const Launch launch = launches_.front();
  const auto found = by_correlation_.find(launch.correlation);
  // Unless a newer call has the correlation.
  if (found != by_correlation_.end() && found->second == first_) by_correlation_.erase(found);
  launches_.pop_front();
  ++first_;
  if (!launch.is_matched) dropped(launch);
}

void LaunchTable::Clear(Visit dropped) {
  while (!launches_.empty()) DropOldest(dropped);
}

}  // namespace nanolane::collector
