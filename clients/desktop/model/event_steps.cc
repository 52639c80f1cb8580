#include "clients/desktop/model/event_steps.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace nanolane::desktop {
namespace {

auto KeyOf(const EventStore& events, uint32_t event) {
  const auto place = PlaceOf(events, event);
  return std::make_tuple(place.start_ns, !place.instant, place.index);
}

}  // namespace

timeline::LaneIndex::EventPlace PlaceOf(const EventStore& events, size_t event) {
  return {.start_ns = events.start_ns(event),
          .instant = events.duration_ns(event) <= 0,
          .index = static_cast<int64_t>(event)};
}

std::optional<EventRef> NextInLane(const TimelineModel& model, const EventRef& from,
                                   bool backwards) {
  const LaneModel& lane = *model.lanes()[from.lane];
  const std::optional<size_t> next = lane.rows.Neighbour(
      lane.rows.DepthOf(from.event), PlaceOf(lane.events, from.event), backwards);
  return next.has_value() ? std::optional<EventRef>(EventRef{from.lane, *next}) : std::nullopt;
}

void NameSteps::Ask(const EventRef& from, bool backwards) { asked_ = Question{from, backwards}; }

void NameSteps::Forget() { *this = NameSteps(); }

std::optional<NameSteps::Answer> NameSteps::Work(const TimelineModel& model, size_t most_events) {
  if (!asked_.has_value()) return std::nullopt;
  const EventStore& events = model.lanes()[asked_->from.lane]->events;
  const NameId name = events.name(asked_->from.event);
  if (lane_ != asked_->from.lane || name_ != name) {
    lane_ = asked_->from.lane;
    name_ = name;
    looked_at_ = sorted_ = 0;
    events_.clear();
  }
  const size_t to = std::min(events.size(), looked_at_ + most_events);
  for (size_t i = looked_at_; i < to; ++i) {
    if (events.name(i) == name) events_.push_back(static_cast<uint32_t>(i));
  }
  looked_at_ = to;
  if (to < events.size()) return std::nullopt;

  const auto earlier = [&events](uint32_t a, uint32_t b) {
    return KeyOf(events, a) < KeyOf(events, b);
  };
  if (sorted_ < events_.size()) {
    if (!std::is_sorted(events_.begin(), events_.end(), earlier)) {
      std::sort(events_.begin(), events_.end(), earlier);
    }
    sorted_ = events_.size();
  }
  const Question asked = *std::exchange(asked_, std::nullopt);
  const auto own = static_cast<uint32_t>(asked.from.event);
  Answer answer{.event = std::nullopt, .backwards = asked.backwards};
  if (asked.backwards) {
    const auto at = std::lower_bound(events_.begin(), events_.end(), own, earlier);
    if (at != events_.begin()) answer.event = EventRef{asked.from.lane, *std::prev(at)};
  } else {
    const auto at = std::upper_bound(events_.begin(), events_.end(), own, earlier);
    if (at != events_.end()) answer.event = EventRef{asked.from.lane, *at};
  }
  return answer;
}

}  // namespace nanolane::desktop
