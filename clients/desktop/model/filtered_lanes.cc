#include "clients/desktop/model/filtered_lanes.h"

#include <algorithm>
#include <map>

namespace nanolane::desktop {
namespace {

struct Batch {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> duration_ns;
  std::vector<trace::Category> category;
};

}  // namespace

bool FilteredLanes::Work(const TimelineModel& model, const EventFilter& filter, size_t most_work) {
  languages_.Update(model);
  // Late symbols change what a stack's languages are.
  const bool late = filter_.by_language() && dictionary_version_ != model.dictionary_version();
  if (!(filter_ == filter) || generation_ != model.generation() || late) {
    filter_ = filter;
    Begin(model);
  }
  const size_t known = lanes_.size();
  lanes_.resize(model.lanes().size());
  for (size_t i = known; i < lanes_.size(); ++i) lanes_[i].version = 1;
  bool complete = true;
  size_t work = 0;
  shown_ = 0;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const LaneModel& lane = *model.lanes()[i];
    Lane& into = lanes_[i];
    const Way way = WayOf(lane);
    // Ranges move between rows as others come.
    const bool moved =
        way == Way::kIndex && lane.rows.depth() > 1 && into.lane_version != lane.version;
    if (into.way != way || moved) {
      into = Lane{.way = way, .rows = {}, .version = into.version + 1};
      into.lane_version = lane.version;
    }
    while (way == Way::kIndex && into.blocks < lane.events.block_count() && work < most_work) {
      work += LookInBlock(lane, into);
    }
    complete = complete && (way != Way::kIndex || into.blocks == lane.events.block_count());
    shown_ += ShownOf(lane, into);
  }
  return complete;
}

void FilteredLanes::Begin(const TimelineModel& model) {
  generation_ = model.generation();
  dictionary_version_ = model.dictionary_version();
  for (Lane& lane : lanes_) lane = Lane{.way = lane.way, .rows = {}, .version = lane.version + 1};
}

FilteredLanes::Way FilteredLanes::WayOf(const LaneModel& lane) const {
  const trace::Lane& facts = lane.facts.lane;
  if (!filter_.active() || lane.rows.is_memory()) return Way::kAll;
  if (facts.stream >= 0 && !filter_.ShowsStream(facts.stream)) return Way::kNothing;
  if ((lane.categories & filter_.categories) == 0) return Way::kNothing;
  if (filter_.by_duration() || filter_.by_language()) return Way::kIndex;
  if ((lane.categories & ~filter_.categories) == 0) return Way::kAll;
  return lane.rows.disjoint() ? Way::kSums : Way::kIndex;
}

size_t FilteredLanes::LookInBlock(const LaneModel& lane, Lane& into) {
  const EventStore& events = lane.events;
  const size_t block = into.blocks++;
  const size_t from = events.block_begin(block);
  const size_t to = events.block_begin(block + 1);
  EventStore::BlockColumns unpacked;
  if (filter_.by_language()) {
    auto read = events.Unpack(block, trace::ColumnSet::Timeline().With(trace::Column::kStack));
    if (read.ok()) unpacked = *std::move(read);
  }
  const std::vector<trace::StackId>& stacks = unpacked.columns.stack;
  std::map<uint32_t, Batch> batches;
  const uint64_t before = into.events;
  for (size_t event = from; event < to; ++event) {
    if (!filter_.ShowsCategory(events.category(event))) continue;
    if (!filter_.ShowsDuration(events.duration_ns(event))) continue;
    if (filter_.by_language()) {
      const size_t i = event - from;
      const trace::StackId stack = i < stacks.size() ? stacks[i] : 0;
      if ((languages_.Of(unpacked.dictionary, stack) & filter_.languages) == 0) continue;
    }
    Batch& batch = batches[lane.rows.DepthOf(event)];
    batch.start_ns.push_back(events.start_ns(event));
    batch.duration_ns.push_back(events.duration_ns(event));
    batch.category.push_back(events.category(event));
    ++into.events;
  }
  for (const auto& [depth, batch] : batches) {
    if (into.rows.size() <= depth) into.rows.resize(depth + 1);
    into.rows[depth].Append({batch.start_ns, batch.duration_ns, batch.category});
    ++into.version;
  }
  return (to - from) * (filter_.by_language() ? kStackCost : 1) +
         (into.events - before) * kShownCost;
}

uint64_t FilteredLanes::ShownOf(const LaneModel& lane, const Lane& of) const {
  switch (of.way) {
    case Way::kAll: return lane.events.size();
    case Way::kNothing: return 0;
    case Way::kIndex: return of.events;
    case Way::kSums: break;
  }
  uint64_t shown = 0;
  for (size_t i = 0; i < lane.category_events.size(); ++i) {
    if ((filter_.categories >> i & 1U) != 0) shown += lane.category_events[i];
  }
  return shown;
}

FilteredLanes::Part FilteredLanes::Columns(const LaneModel& lane, size_t number, uint32_t depth,
                                           const timeline::Window& window,
                                           std::span<timeline::PixelColumn> out) const {
  const Way way = number < lanes_.size() ? lanes_[number].way : Way::kAll;
  if (way == Way::kAll) return Part::kAll;
  if (way == Way::kSums && lane.rows.ColumnsOf(filter_.categories, window, out)) {
    return Part::kSome;
  }
  if (way == Way::kIndex && depth < lanes_[number].rows.size()) {
    lanes_[number].rows[depth].Columns(window, out);
    return Part::kSome;
  }
  std::fill(out.begin(), out.end(), timeline::PixelColumn{});
  return Part::kNothing;
}

bool FilteredLanes::Shows(const TimelineModel& model, const EventRef& event) const {
  const LaneModel& lane = *model.lanes()[event.lane];
  if (!filter_.active() || lane.rows.is_memory()) return true;
  const int64_t stream = lane.facts.lane.stream;
  if (stream >= 0 && !filter_.ShowsStream(stream)) return false;
  if (!filter_.ShowsCategory(lane.events.category(event.event))) return false;
  if (!filter_.ShowsDuration(lane.events.duration_ns(event.event))) return false;
  if (!filter_.by_language()) return true;
  const absl::StatusOr<FullEvent> full = lane.events.At(event.event);
  const trace::StackId stack = full.ok() ? full->event.stack : 0;
  const uint32_t dictionary = full.ok() ? full->dictionary : 0;
  return (languages_.Of(dictionary, stack) & filter_.languages) != 0;
}

}  // namespace nanolane::desktop
