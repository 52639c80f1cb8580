// GetTiles: what is not sealed yet block by block, what is by its rows.
#include <algorithm>
#include <tuple>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/store/epoch_record.h"
#include "services/store/keys.h"
#include "services/store/rocks_read.h"
#include "services/store/rocks_row_source.h"
#include "services/store/rocks_store.h"
#include "services/store/tile_answer.h"

namespace nanolane::store {
namespace {

bool Overlaps(const v1::SealedRow& row, const trace::v1::TimeRange& window) {
  return row.start_ns() < window.end_ns() && row.end_ns() >= window.start_ns();
}

// What a lane's columns are made of.
struct LaneParts {
  std::vector<IndexedBlock> unsealed;
  std::vector<StoredRow> rows;
};

absl::StatusOr<LaneParts> ReadParts(RocksDb& db, const rocksdb::ReadOptions& options,
                                    const std::string& session_key, const v1::StoredLane& lane,
                                    const v1::GetTilesRequest& request) {
  LaneParts parts;
  // What goes before the window sets the level at its start.
  trace::v1::TimeRange reach = request.window();
  if (IsMemory(lane)) reach.set_start_ns(std::numeric_limits<int64_t>::min());
  RETURN_IF_ERROR(ReadIndex(db, options, session_key, lane.lane_id(), &reach, parts.unsealed));
  std::erase_if(parts.unsealed, [](const IndexedBlock& block) { return block.key.sealed(); });
  std::sort(parts.unsealed.begin(), parts.unsealed.end(),
            [](const IndexedBlock& a, const IndexedBlock& b) {
              return std::tie(a.key.epoch, a.key.sequence, a.key.index) <
                     std::tie(b.key.epoch, b.key.sequence, b.key.index);
            });
  ASSIGN_OR_RETURN(parts.rows, ReadRows(db, options, session_key, lane.lane_id()));
  std::erase_if(parts.rows, [&](const StoredRow& row) { return !Overlaps(row.row, reach); });
  return parts;
}

absl::Status AddRows(RocksDb& db, const LaneParts& parts, const rocksdb::ReadOptions& options,
                     const std::string& session_key, const TileAnswer& answer,
                     LaneAnswer& columns) {
  for (const StoredRow& row : parts.rows) {
    RocksRowSource source(db, options, session_key, row.key);
    RETURN_IF_ERROR(columns.AddRow(answer, row.row, source));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::GetTilesResponse> RocksStore::GetTiles(const v1::GetTilesRequest& request,
                                                          const std::function<bool()>& stop) {
  RETURN_IF_ERROR(CheckTilesRequest(request));
  const Snapshot snapshot(db_->db());
  const rocksdb::ReadOptions& options = snapshot.options();
  ASSIGN_OR_RETURN(const v1::SessionRecord record, ReadRecord(*db_, options, request.session_id()));
  const std::string session_key = SessionKey(request.session_id());
  ASSIGN_OR_RETURN(const std::vector<v1::StoredLane> lanes, ReadLanes(*db_, options, session_key));
  RETURN_IF_ERROR(CheckTilesSize(request, lanes.size()));

  TileAnswer answer;
  RETURN_IF_ERROR(db_->Visit(
      options, Family::kEpochs, session_key,
      [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
        const EpochOfSession epoch = {.session_id = request.session_id(),
                                      .created_unix_ns = record.summary().created_unix_ns(),
                                      .epoch = EpochOf(key)};
        ASSIGN_OR_RETURN(const auto labels, LabelsOfEpoch(epoch, value, options));
        answer.AddEpoch(epoch.epoch, *labels);
        return true;
      }));
  for (const uint32_t lane_id : LanesToAnswer(request, lanes.size())) {
    if (stop()) return absl::CancelledError("the client has gone");
    const v1::StoredLane& lane = lanes[lane_id - 1];
    ASSIGN_OR_RETURN(const LaneParts parts, ReadParts(*db_, options, session_key, lane, request));
    LaneAnswer columns(request, lane);
    if (columns.is_memory())
      RETURN_IF_ERROR(AddRows(*db_, parts, options, session_key, answer, columns));
    for (const IndexedBlock& block : parts.unsealed) {
      std::string data;
      RETURN_IF_ERROR(ReadBlockData(*db_, options, session_key, block.key, data));
      RETURN_IF_ERROR(columns.AddBlock(answer, block.key.epoch, data));
    }
    if (!columns.is_memory()) {
      RETURN_IF_ERROR(AddRows(*db_, parts, options, session_key, answer, columns));
    }
    RETURN_IF_ERROR(columns.Finish(answer));
  }
  return answer.Take();
}

absl::StatusOr<std::shared_ptr<const EpochLabels>> RocksStore::LabelsOfEpoch(
    const EpochOfSession& epoch, std::string_view record, const rocksdb::ReadOptions& options) {
  ASSIGN_OR_RETURN(const EpochState state, ParseEpochRecord(record));
  const auto load = [&]() -> absl::StatusOr<EpochLabels> {
    DictionaryDelta whole;
    const DictionaryRange range = {
        .epoch = epoch.epoch, .have = {}, .need = {.strings = UINT32_MAX, .ops = UINT32_MAX}};
    RETURN_IF_ERROR(ReadDictionaryRange(*db_, options, SessionKey(epoch.session_id), range,
                                        [&](DictionaryDelta piece) {
                                          whole.MergeFrom(piece);
                                          return true;
                                        }));
    return LabelsOf(whole);
  };
  return op_labels_.Of(epoch, state.dictionary.ops, load);
}

}  // namespace nanolane::store
