// GetTiles: what is not sealed yet block by block, what is by its rows.
#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
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

// Makes the columns of lanes, one after the other. One for each thread.
class LaneWorker {
 public:
  LaneWorker(RocksDb& db, const rocksdb::ReadOptions& options, const std::string& session_key,
             const v1::GetTilesRequest& request, const TileAnswer& answer)
      : db_(db),
        options_(options),
        session_key_(session_key),
        request_(request),
        pieces_(db, options, session_key),
        lanes_(request, answer) {}

  absl::StatusOr<LaneColumns> Make(const v1::StoredLane& lane) {
    ASSIGN_OR_RETURN(const LaneParts parts, ReadParts(db_, options_, session_key_, lane, request_));
    lanes_.Begin(lane);
    if (lanes_.is_memory()) RETURN_IF_ERROR(AddRows(parts));
    for (const IndexedBlock& block : parts.unsealed) {
      std::string data;
      RETURN_IF_ERROR(ReadBlockData(db_, options_, session_key_, block.key, data));
      RETURN_IF_ERROR(lanes_.AddBlock(block.key.epoch, data));
    }
    if (!lanes_.is_memory()) RETURN_IF_ERROR(AddRows(parts));
    return lanes_.Finish();
  }

 private:
  absl::Status AddRows(const LaneParts& parts) {
    for (const StoredRow& row : parts.rows) {
      RocksRowSource source(pieces_, row.key, row.row.spans());
      RETURN_IF_ERROR(lanes_.AddRow(row.row, source));
    }
    return absl::OkStatus();
  }

  RocksDb& db_;
  const rocksdb::ReadOptions options_;
  const std::string& session_key_;
  const v1::GetTilesRequest& request_;
  RowPieces pieces_;
  LaneAnswer lanes_;
};

// Calls make(i) for each number below `count`, on this thread and, if there is more than one, on
// another.
void ForEachOnTwoThreads(size_t count, const std::function<void(bool second, size_t i)>& make) {
  std::atomic<size_t> next = 0;
  const auto run = [&](bool second) {
    for (size_t i = next++; i < count; i = next++) make(second, i);
  };
  if (count < 2) return run(false);
  std::thread other(run, true);
  run(false);
  other.join();
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
  const std::vector<uint32_t> ids = LanesToAnswer(request, lanes.size());
  std::vector<absl::StatusOr<LaneColumns>> made(ids.size(), absl::CancelledError("stopped"));
  LaneWorker first(*db_, options, session_key, request, answer);
  LaneWorker second(*db_, options, session_key, request, answer);
  ForEachOnTwoThreads(ids.size(), [&](bool on_second, size_t i) {
    if (stop()) return;
    made[i] = (on_second ? second : first).Make(lanes[ids[i] - 1]);
  });
  for (const absl::StatusOr<LaneColumns>& columns : made) {
    RETURN_IF_ERROR(columns.status());
    answer.Add(*columns);
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
