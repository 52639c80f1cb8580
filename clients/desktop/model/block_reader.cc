#include "clients/desktop/model/block_reader.h"

#include "libs/base/status_macros.h"
#include "libs/trace/block_codec.h"

namespace nanolane::desktop {
namespace {

bool IsMemory(trace::LaneKind kind) {
  return kind == trace::LaneKind::kMemoryDriver || kind == trace::LaneKind::kMemoryFramework;
}

}  // namespace

absl::Status BlockReader::Know(const std::vector<LaneFacts>& lanes) {
  for (const LaneFacts& lane : lanes) {
    if (lane.id >= trace::kMaxDictionaryEntries) return absl::DataLossError("lane id too large");
    if (lane.id >= memory_lane_.size()) memory_lane_.resize(lane.id + 1);
    memory_lane_[lane.id] = IsMemory(lane.lane.kind);
  }
  return absl::OkStatus();
}

absl::StatusOr<BlockArrived> BlockReader::Read(uint32_t session,
                                               const query::v1::Block& block) const {
  BlockArrived arrived{.session = session,
                       .lane = block.lane_id(),
                       .epoch = block.epoch(),
                       .columns = {},
                       .packed = block.data()};
  trace::ColumnSet columns = trace::ColumnSet::Timeline();
  if (block.lane_id() < memory_lane_.size() && memory_lane_[block.lane_id()]) {
    columns = columns.With(trace::Column::kBytes)
                  .With(trace::Column::kLevel)
                  .With(trace::Column::kReserved);
  }
  RETURN_IF_ERROR(trace::DecodeBlock(arrived.packed, columns, arrived.columns));
  return arrived;
}

}  // namespace nanolane::desktop
