#include "services/store/epoch_record.h"

#include "libs/trace/little_endian.h"

namespace nanolane::store {

std::string EpochRecord(const EpochState& epoch) {
  std::string record;
  trace::AppendLittle(record, epoch.sequence);
  trace::AppendLittle(record, epoch.dictionary.strings);
  trace::AppendLittle(record, epoch.dictionary.frames);
  trace::AppendLittle(record, epoch.dictionary.stacks);
  trace::AppendLittle(record, epoch.dictionary.ops);
  for (const auto& [writer_lane, lane_id] : epoch.lanes) {
    trace::AppendLittle(record, writer_lane);
    trace::AppendLittle(record, lane_id);
  }
  return record;
}

absl::StatusOr<EpochState> ParseEpochRecord(std::string_view record) {
  EpochState epoch;
  trace::ByteCursor cursor(record);
  bool whole = cursor.Read(epoch.sequence) && cursor.Read(epoch.dictionary.strings) &&
               cursor.Read(epoch.dictionary.frames) && cursor.Read(epoch.dictionary.stacks) &&
               cursor.Read(epoch.dictionary.ops);
  while (whole && !cursor.empty()) {
    trace::LaneId writer_lane = 0;
    uint32_t lane_id = 0;
    whole = cursor.Read(writer_lane) && cursor.Read(lane_id);
    epoch.lanes[writer_lane] = lane_id;
  }
  if (!whole) return absl::DataLossError("a stored epoch is not readable");
  return epoch;
}

}  // namespace nanolane::store
