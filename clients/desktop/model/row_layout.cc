#include "clients/desktop/model/row_layout.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace nanolane::desktop {
namespace {

using trace::LaneKind;

// A process and one of its GPUs (-1: none).
struct GroupKey {
  uint32_t session = 0;
  int32_t gpu_index = -1;
  std::string gpu_uuid;

  auto operator<=>(const GroupKey&) const =
      default;  // NOLINT(modernize-use-nullptr): a false alarm
};

RowKind KindOf(LaneKind kind) {
  switch (kind) {
    case LaneKind::kStream:
    case LaneKind::kUnspecified: return RowKind::kStream;
    case LaneKind::kStreamSync:
    case LaneKind::kNoStreamSync: return RowKind::kSync;
    case LaneKind::kNvtxThread:
    case LaneKind::kNvtxStream: return RowKind::kNvtx;
    case LaneKind::kThreadApi: return RowKind::kApi;
    case LaneKind::kMemoryDriver:
    case LaneKind::kMemoryFramework: return RowKind::kMemory;
  }
  return RowKind::kStream;
}

// Where a lane stands in its group.
auto OrderOf(const trace::Lane& lane) {
  int section = 1;  // streams
  int place = 1;
  switch (lane.kind) {
    case LaneKind::kNvtxThread: section = 0; break;
    case LaneKind::kNvtxStream: place = 0; break;
    case LaneKind::kStreamSync: place = 2; break;
    case LaneKind::kNoStreamSync: section = 2; break;
    case LaneKind::kThreadApi: section = 3; break;
    case LaneKind::kMemoryFramework: section = 4; break;
    case LaneKind::kMemoryDriver: section = 5; break;
    case LaneKind::kStream:
    case LaneKind::kUnspecified: break;
  }
  return std::make_tuple(section, lane.context, lane.stream, lane.thread, lane.domain, place);
}

double HeightOf(RowKind kind, uint32_t depth) {
  switch (kind) {
    case RowKind::kHeader: return kHeaderHeight;
    case RowKind::kStream: return kStreamHeight;
    case RowKind::kSync: return kSyncHeight;
    case RowKind::kNvtx: return depth == 0 ? kNvtxHeight : kNvtxNestedHeight;
    case RowKind::kApi:
    case RowKind::kApiSummary: return kApiHeight;
    case RowKind::kStack: return kStackHeight + (depth == 0 ? kStackMargin : 0);
    case RowKind::kMemory: return kMemoryHeight;
  }
  return kStreamHeight;
}

std::string ProcessLabel(const SessionFacts& session) {
  const size_t slash = session.executable.rfind('/');
  std::string name =
      slash == std::string::npos ? session.executable : session.executable.substr(slash + 1);
  if (name.empty()) name = "process";
  return session.pid == 0 ? name : absl::StrCat(name, " · ", session.pid);
}

std::string ShortGpuLabel(const GroupKey& key) {
  if (key.gpu_index < 0) return key.gpu_uuid.empty() ? "threads" : "GPU";
  return absl::StrCat("GPU ", key.gpu_index);
}

std::string GpuLabel(const SessionFacts& session, const GroupKey& key) {
  if (key.gpu_index < 0 && key.gpu_uuid.empty()) return ShortGpuLabel(key);
  std::string name;
  for (const GpuFacts& gpu : session.gpus) {
    const bool fits = key.gpu_uuid.empty() ? gpu.index == key.gpu_index : gpu.uuid == key.gpu_uuid;
    if (fits) name = gpu.name;
  }
  std::string label = ShortGpuLabel(key);
  if (!name.empty()) absl::StrAppend(&label, " ", name);
  return label;
}

using Groups = std::map<GroupKey, std::vector<size_t>>;

// Lanes by group; lanes of no GPU go to the process' only one.
Groups GroupLanes(const TimelineModel& model) {
  Groups groups;
  for (size_t i = 0; i < model.lanes().size(); ++i) {
    const LaneFacts& facts = model.lanes()[i]->facts;
    if (facts.events == 0 && model.lanes()[i]->events.size() == 0) continue;
    groups[{facts.session, facts.lane.gpu_index, facts.lane.gpu_uuid}].push_back(i);
  }
  for (uint32_t session = 0; session < model.sessions().size(); ++session) {
    const auto none = groups.find({session, -1, ""});
    if (none == groups.end()) continue;
    const auto first = std::next(none);
    if (first == groups.end() || first->first.session != session) continue;
    const auto second = std::next(first);
    if (second != groups.end() && second->first.session == session) continue;
    first->second.insert(first->second.end(), none->second.begin(), none->second.end());
    groups.erase(none);
  }
  return groups;
}

// The lane's label; without what only tells lanes apart where there is just one of its kind.
std::string LabelIn(const std::vector<size_t>& lanes, const TimelineModel& model, size_t lane) {
  const LaneFacts& facts = model.lanes()[lane]->facts;
  size_t alike = 0;
  for (const size_t other : lanes) {
    const LaneFacts& others = model.lanes()[other]->facts;
    if (others.lane.kind == facts.lane.kind) ++alike;
  }
  if (alike == 1 && facts.lane.kind == LaneKind::kNvtxThread && facts.lane.domain.empty()) {
    return "NVTX";
  }
  if (KindOf(facts.lane.kind) == RowKind::kMemory) return "GPU memory";
  return facts.label.empty() ? trace::LaneLabel(facts.lane) : facts.label;
}

// Rows that expanding a lane adds.
uint32_t LevelsOf(const LaneModel& lane, LaneStacks::Shape stacks) {
  if (KindOf(lane.facts.lane.kind) == RowKind::kNvtx) {
    return static_cast<uint32_t>(std::max<size_t>(lane.rows.depth(), 1) - 1);
  }
  return stacks.levels;
}

// Sessions whose lanes are those of GPUs: others have nothing but their threads to show.
absl::flat_hash_set<uint32_t> SessionsWithGpus(const TimelineModel& model) {
  absl::flat_hash_set<uint32_t> sessions;
  for (const auto& lane : model.lanes()) {
    const bool has_events = lane->facts.events > 0 || lane->events.size() > 0;
    if (has_events && KindOf(lane->facts.lane.kind) == RowKind::kStream) {
      sessions.insert(lane->facts.session);
    }
  }
  return sessions;
}

}  // namespace

// A header and what stands under it, in order; with the lanes that are hidden or pinned.
struct RowLayout::Group {
  uint32_t session = 0;
  std::string key;
  std::string detail;
  std::vector<LaneBlock> blocks;
  bool api_on_demand = false;
};

void RowLayout::Update(const TimelineModel& model, const Terms& terms) {
  const LaneArrangement untouched;
  const LaneArrangement& arrangement =
      terms.arrangement == nullptr ? untouched : *terms.arrangement;
  const uint64_t stacks = terms.stacks == nullptr ? 0 : terms.stacks->shape_version();
  if (shape_seen_ == model.shape_version() && arrangement_seen_ == arrangement.version() &&
      stacks_seen_ == stacks && (room_seen_ == terms.room || arrangement.pins().empty())) {
    return;
  }
  shape_seen_ = model.shape_version();
  arrangement_seen_ = arrangement.version();
  stacks_seen_ = stacks;
  room_seen_ = terms.room;
  ++version_;
  rows_.clear();
  blocks_.clear();
  hidden_ = 0;
  height_ = 0;
  stuck_ = 0;
  const std::vector<Group> groups = GroupsOf(model, arrangement, terms.stacks);
  for (const Group& group : groups) {
    for (const LaneBlock& block : group.blocks) hidden_ += arrangement.Hidden(block.key) ? 1 : 0;
  }
  PlacePins(model, arrangement, groups, terms.room);
  for (const Group& group : groups) PlaceGroup(model, arrangement, group);
}

std::vector<RowLayout::Group> RowLayout::GroupsOf(const TimelineModel& model,
                                                  const LaneArrangement& arrangement,
                                                  const LaneStacks* stacks) {
  const absl::flat_hash_set<uint32_t> with_gpus = SessionsWithGpus(model);
  std::vector<Group> groups;
  for (auto& [key, lanes] : GroupLanes(model)) {
    const SessionFacts& session = model.sessions()[key.session];
    Group& group = groups.emplace_back();
    group.session = key.session;
    group.key = absl::StrCat(session.id, "/", key.gpu_index, "/", key.gpu_uuid);
    group.detail = GpuLabel(session, key);
    group.api_on_demand = with_gpus.contains(key.session);
    std::stable_sort(lanes.begin(), lanes.end(), [&model](size_t a, size_t b) {
      return OrderOf(model.lanes()[a]->facts.lane) < OrderOf(model.lanes()[b]->facts.lane);
    });
    std::map<std::string, std::vector<LaneBlock>> units;
    std::vector<std::string> order;
    for (const size_t lane : lanes) {
      const LaneModel& of = *model.lanes()[lane];
      const LaneStacks::Shape shape =
          stacks == nullptr ? LaneStacks::Shape{} : stacks->ShapeOf(lane);
      LaneBlock block{.lane = lane,
                      .key = LaneKey(session, of.facts.lane),
                      .unit = LaneUnitKey(session, of.facts.lane),
                      .group = group.key,
                      .label = LabelIn(lanes, model, lane),
                      .origin = ShortGpuLabel(key),
                      .levels = LevelsOf(of, shape),
                      .folded = shape.folded};
      const bool nested = KindOf(of.facts.lane.kind) == RowKind::kNvtx;
      block.expanded = block.expandable() && arrangement.Expanded(block.key, nested);
      block.pinned = arrangement.Pinned(block.key);
      const auto [unit, added] = units.try_emplace(block.unit);
      if (added) order.push_back(block.unit);
      unit->second.push_back(std::move(block));
    }
    for (const std::string& unit : arrangement.Ordered(group.key, order)) {
      for (LaneBlock& block : units[unit]) group.blocks.push_back(std::move(block));
    }
  }
  return groups;
}

void RowLayout::PlacePins(const TimelineModel& model, const LaneArrangement& arrangement,
                          const std::vector<Group>& groups, double room) {
  bool all_stuck = true;
  for (const std::string& key : arrangement.pins()) {
    if (arrangement.Hidden(key)) continue;
    for (const Group& group : groups) {
      const auto found = std::find_if(group.blocks.begin(), group.blocks.end(),
                                      [&key](const LaneBlock& block) { return block.key == key; });
      if (found == group.blocks.end()) continue;
      LaneBlock block = *found;
      if (groups.size() == 1) block.origin.clear();
      PlaceBlock(model, std::move(block));
      all_stuck = all_stuck && height_ <= room * kMostPinned;
      if (all_stuck) stuck_ = height_;
    }
  }
}

void RowLayout::PlaceGroup(const TimelineModel& model, const LaneArrangement& arrangement,
                           const Group& group) {
  const SessionFacts& session = model.sessions()[group.session];
  const bool collapsed = arrangement.GroupCollapsed(group.key);
  Place({.kind = RowKind::kHeader,
         .label = ProcessLabel(session),
         .detail = group.detail,
         .group = group.key,
         .collapsed = collapsed});
  if (collapsed) return;
  const auto is_api = [&model](const LaneBlock& block) {
    return model.lanes()[block.lane]->facts.lane.kind == LaneKind::kThreadApi;
  };
  const auto threads = std::count_if(group.blocks.begin(), group.blocks.end(), is_api);
  const bool api_shown = !group.api_on_demand || arrangement.ApiShown(session.id);
  bool summarized = !group.api_on_demand;
  for (const LaneBlock& block : group.blocks) {
    if (is_api(block) && !std::exchange(summarized, true)) {
      Place({.kind = RowKind::kApiSummary,
             .label = absl::StrCat(threads, threads == 1 ? " thread" : " threads"),
             .detail = api_shown ? "hide API calls" : "show API calls",
             .group = session.id});
    }
    const bool out = block.pinned || arrangement.Hidden(block.key) || (is_api(block) && !api_shown);
    if (!out) PlaceBlock(model, block);
  }
}

void RowLayout::PlaceBlock(const TimelineModel& model, LaneBlock block) {
  const RowKind kind = KindOf(model.lanes()[block.lane]->facts.lane.kind);
  const uint32_t levels = block.expanded ? block.levels : 0;
  const size_t index = blocks_.size();
  block.first_row = rows_.size();
  block.row_count = levels + 1;
  block.y = height_;
  const bool stacks = kind == RowKind::kStream;
  for (uint32_t i = 0; i <= levels; ++i) {
    // The events of a stream stand under the levels of their stacks, nested ranges under the
    // outermost.
    const bool own = stacks ? i == levels : i == 0;
    Place({.kind = stacks && !own ? RowKind::kStack : kind,
           .lane = block.lane,
           .depth = stacks && own ? 0 : i,
           .label = own ? block.label : "",
           .block = index,
           .ends_lane = i == levels});
  }
  block.height = height_ - block.y;
  blocks_.push_back(std::move(block));
}

void RowLayout::Place(Row row) {
  row.y = height_;
  row.height = HeightOf(row.kind, row.depth);
  // The last nested row ends as the first begins: with room to the separator.
  if (row.kind == RowKind::kNvtx && row.depth > 0 && row.ends_lane) row.height += 4;
  height_ += row.height;
  rows_.push_back(std::move(row));
}

std::optional<size_t> RowLayout::RowAt(double y) const {
  if (y < 0 || y >= height_) return std::nullopt;
  const auto after = std::upper_bound(rows_.begin(), rows_.end(), y,
                                      [](double at, const Row& row) { return at < row.y; });
  return static_cast<size_t>(std::prev(after) - rows_.begin());
}

}  // namespace nanolane::desktop
