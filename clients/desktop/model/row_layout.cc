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
    case RowKind::kApi: return kApiHeight;
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

std::string GpuLabel(const SessionFacts& session, const GroupKey& key) {
  if (key.gpu_index < 0 && key.gpu_uuid.empty()) return "threads";
  std::string name;
  for (const GpuFacts& gpu : session.gpus) {
    const bool fits = key.gpu_uuid.empty() ? gpu.index == key.gpu_index : gpu.uuid == key.gpu_uuid;
    if (fits) name = gpu.name;
  }
  std::string label = key.gpu_index < 0 ? "GPU" : absl::StrCat("GPU ", key.gpu_index);
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

}  // namespace

void RowLayout::Update(const TimelineModel& model) {
  if (shape_seen_ == model.shape_version()) return;
  shape_seen_ = model.shape_version();
  ++version_;
  rows_.clear();
  height_ = 0;
  for (auto& [key, lanes] : GroupLanes(model)) {
    const SessionFacts& session = model.sessions()[key.session];
    Row header{.kind = RowKind::kHeader,
               .label = ProcessLabel(session),
               .detail = GpuLabel(session, key),
               .group = absl::StrCat(session.id, "/", key.gpu_index, "/", key.gpu_uuid)};
    header.collapsed = collapsed_.contains(header.group);
    const bool collapsed = header.collapsed;
    Place(std::move(header));
    if (collapsed) continue;
    std::vector<size_t> ordered = lanes;
    std::stable_sort(ordered.begin(), ordered.end(), [&model](size_t a, size_t b) {
      return OrderOf(model.lanes()[a]->facts.lane) < OrderOf(model.lanes()[b]->facts.lane);
    });
    for (const size_t lane : ordered) PlaceLane(model, lane, LabelIn(ordered, model, lane));
  }
}

void RowLayout::PlaceLane(const TimelineModel& model, size_t lane, const std::string& label) {
  const RowKind kind = KindOf(model.lanes()[lane]->facts.lane.kind);
  const auto rows = static_cast<uint32_t>(std::max<size_t>(model.lanes()[lane]->rows.depth(), 1));
  for (uint32_t depth = 0; depth < rows; ++depth) {
    Place({.kind = kind,
           .lane = lane,
           .depth = depth,
           .label = depth == 0 ? label : "",
           .ends_lane = depth + 1 == rows});
  }
}

void RowLayout::Place(Row row) {
  row.y = height_;
  row.height = HeightOf(row.kind, row.depth);
  // The last nested row ends as the first begins: with room to the separator.
  if (row.kind == RowKind::kNvtx && row.depth > 0 && row.ends_lane) row.height += 4;
  height_ += row.height;
  rows_.push_back(std::move(row));
}

void RowLayout::ToggleGroup(const std::string& group) {
  if (collapsed_.erase(group) == 0) collapsed_.insert(group);
  shape_seen_ = ~uint64_t{0};
}

std::optional<size_t> RowLayout::RowAt(double y) const {
  if (y < 0 || y >= height_) return std::nullopt;
  const auto after = std::upper_bound(rows_.begin(), rows_.end(), y,
                                      [](double at, const Row& row) { return at < row.y; });
  return static_cast<size_t>(std::prev(after) - rows_.begin());
}

}  // namespace nanolane::desktop
