#include "services/store/rocks_row_source.h"

#include <utility>

#include "libs/base/status_macros.h"
#include "services/store/rocks_status.h"

namespace nanolane::store {

absl::StatusOr<std::vector<StoredRow>> ReadRows(RocksDb& db, const rocksdb::ReadOptions& options,
                                                const std::string& session_key, uint32_t lane_id) {
  std::vector<StoredRow> rows;
  RETURN_IF_ERROR(
      db.Visit(options, Family::kRows, LaneKey(session_key, lane_id),
               [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
                 StoredRow& row = rows.emplace_back();
                 row.key = ParseRowKey(key);
                 if (!row.row.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
                   return absl::DataLossError("a stored row is not readable");
                 }
                 return true;
               }));
  return rows;
}

absl::StatusOr<std::string_view> RocksRowSource::Read(SealedPart part, uint32_t number,
                                                      rocksdb::PinnableSlice& to) {
  to.Reset();
  const std::string key = SealedKeyBytes(
      session_key_,
      {.run = row_.run, .lane_id = row_.lane_id, .part = part, .row = row_.row, .number = number});
  RETURN_IF_ERROR(FromRocks(db_.db().Get(options_, db_.family(Family::kSealed), key, &to),
                            "reading a sealed row"));
  return to.ToStringView();
}

}  // namespace nanolane::store
