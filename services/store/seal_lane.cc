#include "services/store/seal_lane.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

namespace nanolane::store {
namespace {

using trace::EventColumns;

uint64_t EventsOf(const std::vector<RawBlock>& blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), uint64_t{0},
                         [](uint64_t sum, const RawBlock& block) { return sum + block.events; });
}

// Of a lane that is being written to, what may be taken now.
void KeepNewest(RawLane& lane, const SealOptions& options) {
  if (EventsOf(lane.blocks) < options.live_lane_events) return lane.blocks.clear();
  int64_t newest = lane.blocks.front().end_ns;
  for (const RawBlock& block : lane.blocks) newest = std::max(newest, block.end_ns);
  const int64_t until = newest > std::numeric_limits<int64_t>::min() + options.reorder_ns
                            ? newest - options.reorder_ns
                            : newest;
  std::erase_if(lane.blocks, [&](const RawBlock& block) { return block.end_ns > until; });
  // Few large runs rather than many small ones.
  if (EventsOf(lane.blocks) < options.live_lane_events / 2) lane.blocks.clear();
}

trace::DictionaryNeeds Highest(const trace::DictionaryNeeds& a, const trace::DictionaryNeeds& b) {
  return {.strings = std::max(a.strings, b.strings),
          .frames = std::max(a.frames, b.frames),
          .stacks = std::max(a.stacks, b.stacks),
          .ops = std::max(a.ops, b.ops)};
}

// All events of one epoch.
struct Gathered {
  EventColumns events;
  trace::DictionaryNeeds needs;
};

void AddRange(const EventColumns& from, size_t begin, size_t end, EventColumns& to) {
  for (size_t i = begin; i < end; ++i) to.Add(from.At(i));
}

absl::Status EncodeAll(uint64_t epoch, trace::LaneId lane, const Gathered& gathered,
                       size_t block_events, std::vector<SealedBlock>& to) {
  const EventColumns& events = gathered.events;
  for (size_t from = 0; from < events.size(); from += block_events) {
    EventColumns part;
    AddRange(events, from, std::min(events.size(), from + block_events), part);
    SealedBlock& block = to.emplace_back();
    block.epoch = epoch;
    ASSIGN_OR_RETURN(block.data, trace::EncodeBlock(part, {.lane = lane, .needs = gathered.needs}));
    ASSIGN_OR_RETURN(block.header, trace::ReadBlockHeader(block.data));
  }
  return absl::OkStatus();
}

EpochEvents SpansOf(uint64_t epoch, const EventColumns& events) {
  EpochEvents result{.epoch = epoch, .spans = {}, .levels = {}};
  result.spans.reserve(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    result.spans.push_back(
        timeline::SpanOf(events.start_ns[i], events.duration_ns[i], events.op[i]));
  }
  std::stable_sort(result.spans.begin(), result.spans.end(),
                   [](const timeline::TileSpan& a, const timeline::TileSpan& b) {
                     return a.start_ns != b.start_ns ? a.start_ns < b.start_ns
                                                     : a.end_ns > b.end_ns;
                   });
  return result;
}

EpochEvents LevelsOf(uint64_t epoch, const EventColumns& events) {
  EpochEvents result{.epoch = epoch, .spans = {}, .levels = {}};
  for (size_t i = 0; i < events.size(); ++i) {
    if (events.level_bytes[i] == trace::kNoLevel) continue;  // the last known level goes on
    result.levels.push_back({events.start_ns[i], events.level_bytes[i]});
  }
  return result;
}

}  // namespace

std::vector<RawLane> PickForRun(std::vector<RawLane> lanes, bool ended,
                                const SealOptions& options) {
  std::vector<RawLane> picked;
  uint64_t events = 0;
  for (RawLane& lane : lanes) {
    if (!ended && !lane.blocks.empty()) KeepNewest(lane, options);
    RawLane& taken = picked.emplace_back();
    taken.lane_id = lane.lane_id;
    for (const RawBlock& block : lane.blocks) {
      if (events > 0 && events + block.events > options.run_events) break;
      events += block.events;
      taken.blocks.push_back(block);
    }
    const bool full = taken.blocks.size() < lane.blocks.size();
    if (taken.blocks.empty()) picked.pop_back();
    if (full) break;
  }
  return picked;
}

std::map<uint64_t, trace::LaneId> WriterLanes(const std::map<uint64_t, EpochState>& epochs,
                                              uint32_t lane_id) {
  std::map<uint64_t, trace::LaneId> lanes;
  for (const auto& [epoch, state] : epochs) {
    for (const auto& [writer_lane, id] : state.lanes) {
      if (id == lane_id) lanes.try_emplace(epoch, writer_lane);
    }
  }
  return lanes;
}

absl::StatusOr<LaidOutLane> LayOutLane(std::vector<RawBytes> blocks,
                                       const std::map<uint64_t, trace::LaneId>& writer_lanes,
                                       bool is_memory, size_t block_events) {
  std::sort(blocks.begin(), blocks.end(), [](const RawBytes& a, const RawBytes& b) {
    return std::tie(a.epoch, a.sequence, a.index) < std::tie(b.epoch, b.sequence, b.index);
  });
  std::map<uint64_t, Gathered> epochs;
  for (RawBytes& block : blocks) {
    Gathered& to = epochs[block.epoch];
    ASSIGN_OR_RETURN(const trace::BlockHeader header, trace::ReadBlockHeader(block.data));
    to.needs = Highest(to.needs, header.needs);
    RETURN_IF_ERROR(trace::DecodeBlock(block.data, trace::ColumnSet::All(), to.events));
    block.data = {};
  }
  LaidOutLane result;
  for (auto& [epoch, gathered] : epochs) {
    gathered.events.SortByStart();
    const auto lane = writer_lanes.find(epoch);
    if (lane == writer_lanes.end()) {
      return absl::DataLossError(base::StrCat("epoch ", epoch, " has blocks of a lane without id"));
    }
    RETURN_IF_ERROR(EncodeAll(epoch, lane->second, gathered, block_events, result.blocks));
    result.epochs.push_back(is_memory ? LevelsOf(epoch, gathered.events)
                                      : SpansOf(epoch, gathered.events));
    gathered.events.clear();
  }
  return result;
}

}  // namespace nanolane::store
