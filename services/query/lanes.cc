#include "services/query/lanes.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "libs/base/status_macros.h"
#include "libs/trace/wire.h"

namespace nanolane::query {
namespace {

using trace::LaneKind;

// Sections of a GPU's rows, top to bottom.
int SectionOf(LaneKind kind) {
  switch (kind) {
    case LaneKind::kStream:
    case LaneKind::kStreamSync:
    case LaneKind::kNvtxStream: return 0;
    case LaneKind::kNoStreamSync: return 1;
    case LaneKind::kMemoryFramework: return 2;
    case LaneKind::kMemoryDriver: return 3;
    default: return 4;
  }
}

int RowOfStream(LaneKind kind) {
  return kind == LaneKind::kNvtxStream ? 0 : kind == LaneKind::kStream ? 1 : 2;
}

auto DisplayOrder(const v1::LaneInfo& info) {
  const trace::Lane lane = trace::FromProto(info.lane());
  const int part = lane.kind == LaneKind::kNvtxThread  ? 0
                   : lane.kind == LaneKind::kThreadApi ? 2
                                                       : 1;
  // Rows of no known GPU come after those of the GPUs.
  const int gpu = lane.gpu_index < 0 ? std::numeric_limits<int>::max() : lane.gpu_index;
  return std::make_tuple(part, gpu, lane.gpu_uuid, SectionOf(lane.kind), lane.context, lane.stream,
                         RowOfStream(lane.kind), lane.thread, lane.domain, info.lane_id());
}

}  // namespace

v1::LaneInfo LaneInfoOf(const std::string& session_id, const StoredLane& lane) {
  v1::LaneInfo info;
  info.set_session_id(session_id);
  info.set_lane_id(lane.lane_id());
  *info.mutable_lane() = lane.lane();
  info.set_label(trace::LaneLabel(trace::FromProto(lane.lane())));
  info.set_events(lane.events());
  info.set_start_ns(lane.start_ns());
  info.set_end_ns(lane.end_ns());
  return info;
}

absl::StatusOr<std::vector<v1::LaneInfo>> LanesOf(const std::string& session_id,
                                                  StoreReader& store) {
  ASSIGN_OR_RETURN(const std::vector<StoredLane> stored, store.ListLanes(session_id));
  std::vector<v1::LaneInfo> lanes;
  for (const StoredLane& from : stored) lanes.push_back(LaneInfoOf(session_id, from));
  std::sort(lanes.begin(), lanes.end(), [](const v1::LaneInfo& a, const v1::LaneInfo& b) {
    return DisplayOrder(a) < DisplayOrder(b);
  });
  return lanes;
}

}  // namespace nanolane::query
