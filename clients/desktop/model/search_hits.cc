#include "clients/desktop/model/search_hits.h"

#include <algorithm>
#include <tuple>

namespace nanolane::desktop {

bool SearchHits::Work(const TimelineModel& model, const NameSearch& search, size_t most_events) {
  active_ = search.active();
  if (pattern_version_ != search.pattern_version()) {
    pattern_version_ = search.pattern_version();
    for (LaneHits& lane : lanes_) {
      lane.index = timeline::LaneIndex();
      lane.events.clear();
      lane.looked_at = 0;
      ++lane.version;
    }
  }
  lanes_.resize(model.lanes().size());
  if (!active_) return true;
  for (size_t i = 0; i < lanes_.size() && most_events > 0; ++i) {
    LaneHits& lane = lanes_[i];
    const EventStore& events = model.lanes()[i]->events;
    const size_t to = std::min(events.size(), lane.looked_at + most_events);
    const size_t before = lane.events.size();
    for (size_t event = lane.looked_at; event < to; ++event) {
      if (!search.Matches(events.name(event))) continue;
      const int64_t start = events.start_ns(event);
      const int64_t duration = events.duration_ns(event);
      const trace::Category category = events.category(event);
      lane.index.Append({{&start, 1}, {&duration, 1}, {&category, 1}});
      lane.events.push_back(static_cast<uint32_t>(event));
    }
    if (lane.events.size() != before) ++lane.version;
    most_events -= to - lane.looked_at;
    lane.looked_at = to;
  }
  return std::all_of(lanes_.begin(), lanes_.end(), [&](const LaneHits& lane) {
    return lane.looked_at ==
           model.lanes()[static_cast<size_t>(&lane - lanes_.data())]->events.size();
  });
}

const timeline::LaneIndex* SearchHits::Of(size_t lane) const {
  return lane < lanes_.size() && !lanes_[lane].events.empty() ? &lanes_[lane].index : nullptr;
}

uint64_t SearchHits::version(size_t lane) const {
  // The pattern counts even for lanes without hits: they are dimmed while there is one.
  return (lane < lanes_.size() ? lanes_[lane].version : 0) * 2 + (active_ ? 1 : 0);
}

size_t SearchHits::Count(const timeline::Window& window) const {
  size_t count = 0;
  for (const LaneHits& lane : lanes_) {
    if (!lane.events.empty()) count += lane.index.Count(window);
  }
  return count;
}

std::optional<EventRef> SearchHits::Next(const TimelineModel& model,
                                         const std::optional<EventRef>& from, int64_t near_ns,
                                         bool backwards) const {
  using Place = std::tuple<int64_t, size_t, size_t>;  // start, lane, event
  const Place origin =
      from.has_value()
          ? Place{model.lanes()[from->lane]->events.start_ns(from->event), from->lane, from->event}
          : Place{near_ns, 0, 0};
  std::optional<Place> best;     // nearest beyond the origin
  std::optional<Place> wrapped;  // farthest on the other side
  const auto nearer = [backwards](const Place& a, const Place& b) {
    return backwards ? a > b : a < b;
  };
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    for (const uint32_t event : lanes_[lane].events) {
      const Place place{model.lanes()[lane]->events.start_ns(event), lane, event};
      const bool beyond = nearer(origin, place) || (!from.has_value() && place == origin);
      std::optional<Place>& slot = beyond ? best : wrapped;
      if (!slot.has_value() || nearer(place, *slot)) slot = place;
    }
  }
  const std::optional<Place>& found = best.has_value() ? best : wrapped;
  if (!found.has_value()) return std::nullopt;
  return EventRef{std::get<1>(*found), std::get<2>(*found)};
}

}  // namespace nanolane::desktop
