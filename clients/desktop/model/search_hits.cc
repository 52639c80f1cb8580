#include "clients/desktop/model/search_hits.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "clients/desktop/model/event_steps.h"

namespace nanolane::desktop {

bool SearchHits::Work(const TimelineModel& model, const NameSearch& names,
                      const FrameSearch& frames, size_t most_work) {
  active_ = names.active();
  // The first stacks that match bring events that have been passed over.
  const bool by_stack = active_ && frames.any();
  if (pattern_version_ != names.pattern_version() || frames_version_ != frames.version() ||
      by_stack_ != by_stack) {
    pattern_version_ = names.pattern_version();
    frames_version_ = frames.version();
    by_stack_ = by_stack;
    Begin();
  }
  lanes_.resize(model.lanes().size());
  CountNames(model, names);
  if (!active_) return true;
  // Nothing can be found: nothing is looked at, and what comes later may begin anew.
  if (names.matching_names() == 0 && !by_stack_) return true;
  bool complete = true;
  size_t work = 0;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const EventStore& events = model.lanes()[i]->events;
    while (lanes_[i].blocks < events.block_count() && work < most_work) {
      work += LookInBlock(events, names, frames, lanes_[i]);
    }
    complete = complete && lanes_[i].blocks == events.block_count();
  }
  totals_.events += by_frames_.events;
  totals_.duration_ns += by_frames_.duration_ns;
  totals_.complete = complete || !by_stack_;
  return complete;
}

void SearchHits::Begin() {
  for (LaneHits& lane : lanes_) {
    lane.index = timeline::LaneIndex();
    lane.events.clear();
    lane.blocks = 0;
    ++lane.version;
  }
  by_frames_ = {};
  ++version_;
}

void SearchHits::CountNames(const TimelineModel& model, const NameSearch& names) {
  totals_ = {};
  for (const NameId name : names.matches()) {
    if (name >= model.name_totals().size()) continue;  // named, and not seen yet
    totals_.events += model.name_totals()[name].events;
    totals_.duration_ns += model.name_totals()[name].duration_ns;
  }
}

size_t SearchHits::LookInBlock(const EventStore& events, const NameSearch& names,
                               const FrameSearch& frames, LaneHits& hits) {
  const size_t block = hits.blocks++;
  const size_t from = events.block_begin(block);
  const size_t to = events.block_begin(block + 1);
  EventStore::BlockColumns unpacked;
  if (by_stack_) {
    auto read = events.Unpack(block, trace::ColumnSet::Timeline().With(trace::Column::kStack));
    if (read.ok()) unpacked = *std::move(read);
  }
  const std::vector<trace::StackId>& stacks = unpacked.columns.stack;
  std::vector<int64_t> start_ns;
  std::vector<int64_t> duration_ns;
  std::vector<trace::Category> category;
  for (size_t event = from; event < to; ++event) {
    if (!names.Matches(events.name(event))) {
      const size_t i = event - from;
      if (i >= stacks.size() || !frames.Matches(unpacked.dictionary, stacks[i])) continue;
      ++by_frames_.events;
      by_frames_.duration_ns += std::max<int64_t>(events.duration_ns(event), 0);
    }
    hits.events.push_back(static_cast<uint32_t>(event));
    start_ns.push_back(events.start_ns(event));
    duration_ns.push_back(events.duration_ns(event));
    category.push_back(events.category(event));
  }
  if (!start_ns.empty()) {
    hits.index.Append({start_ns, duration_ns, category});
    ++hits.version;
    ++version_;
  }
  return (to - from) * (by_stack_ ? kStackCost : 1) + start_ns.size() * kHitCost;
}

const timeline::LaneIndex* SearchHits::Of(size_t lane) const {
  return lane < lanes_.size() && !lanes_[lane].events.empty() ? &lanes_[lane].index : nullptr;
}

bool SearchHits::Has(const EventRef& event) const {
  if (event.lane >= lanes_.size()) return false;
  const std::vector<uint32_t>& events = lanes_[event.lane].events;
  return std::binary_search(events.begin(), events.end(), event.event);
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

// The hit next to `place`, which is one of `own_lane` and counts its events, or lies before all
// lanes where there is no such lane.
std::optional<EventRef> SearchHits::Neighbour(const TimelineModel& model, size_t own_lane,
                                              const Place& place, bool backwards) const {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  std::optional<EventRef> best;
  std::tuple<int64_t, size_t> best_place;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    const LaneHits& hits = lanes_[lane];
    if (hits.events.empty()) continue;
    Place from = place;
    if (lane == own_lane) {
      const auto at = std::lower_bound(hits.events.begin(), hits.events.end(), place.index);
      from.index = at - hits.events.begin();
      const bool own = at != hits.events.end() && *at == place.index;
      if (!own && !backwards) --from.index;
    } else {  // all that starts then comes after a place of a lower lane, before that of a higher
      const bool after = own_lane >= lanes_.size() || lane > own_lane;
      from = Place{place.start_ns, after, after ? -1 : kLast};
    }
    const std::optional<size_t> found = hits.index.Neighbour(from, backwards);
    if (!found.has_value()) continue;
    const EventRef event{lane, hits.events[*found]};
    const std::tuple<int64_t, size_t> found_place{model.lanes()[lane]->events.start_ns(event.event),
                                                  lane};
    if (best.has_value() && (backwards ? found_place < best_place : found_place > best_place)) {
      continue;
    }
    best = event;
    best_place = found_place;
  }
  return best;
}

std::optional<EventRef> SearchHits::Next(const TimelineModel& model,
                                         const std::optional<EventRef>& from, int64_t near_ns,
                                         bool backwards) const {
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  Place place{.start_ns = near_ns, .instant = true, .index = -1};
  size_t own_lane = lanes_.size();
  if (from.has_value()) {
    place = PlaceOf(model.lanes()[from->lane]->events, from->event);
    own_lane = from->lane;
  }
  const std::optional<EventRef> next = Neighbour(model, own_lane, place, backwards);
  if (next.has_value()) return next;
  // Around: lane 0 has nothing before the first moment, and the last lane nothing after the last.
  if (backwards) return Neighbour(model, 0, {kLast, false, kLast}, true);
  return Neighbour(model, lanes_.size(), {kFirst, true, -1}, false);
}

}  // namespace nanolane::desktop
