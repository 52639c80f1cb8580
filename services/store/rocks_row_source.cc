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

RowPieces::RowPieces(RocksDb& db, const rocksdb::ReadOptions& options, std::string session_key)
    : session_key_(std::move(session_key)) {
  groups_.at = db.Iterate(options, Family::kSealed);
  rocksdb::ReadOptions ahead = options;
  ahead.readahead_size = 64 << 10;  // of pages nearly all are read, of groups few
  pages_.at = db.Iterate(ahead, Family::kSealed);
}

absl::StatusOr<std::string_view> RowPieces::Read(const RowKey& row, SealedPart part,
                                                 uint32_t number) {
  Place& place = part == SealedPart::kPage ? pages_ : groups_;
  place.key = SealedKeyBytes(
      session_key_,
      {.run = row.run, .lane_id = row.lane_id, .part = part, .row = row.row, .number = number});
  const rocksdb::Slice wanted(place.key);
  rocksdb::Iterator& at = *place.at;
  // The next piece is a step away; any other one is found faster by a search, which reads none of
  // those between.
  if (place.number + 1 == number && at.Valid()) at.Next();
  if (!at.Valid() || at.key() != wanted) at.Seek(wanted);
  place.number = number;
  const bool there = at.Valid() && at.key() == wanted;
  if (there) return at.value().ToStringView();
  RETURN_IF_ERROR(FromRocks(at.status(), "reading a sealed row"));
  return absl::DataLossError("a piece of a sealed row is missing");
}

}  // namespace nanolane::store
