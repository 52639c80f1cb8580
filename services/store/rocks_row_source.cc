#include "services/store/rocks_row_source.h"

#include <algorithm>
#include <utility>

#include "libs/base/status_macros.h"
#include "services/store/bundle.h"
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
  // Every key that is sought is there: filters would only be asked in vain.
  rocksdb::ReadOptions known = options;
  known.prefix_same_as_start = false;
  known.total_order_seek = true;
  pages_.at = db.Iterate(known, Family::kSealed);
  rocksdb::ReadOptions ahead = known;
  ahead.readahead_size = 64 << 10;
  dense_bundles_.at = db.Iterate(ahead, Family::kSealed);
  sparse_bundles_.at = db.Iterate(known, Family::kSealed);
}

std::string RowPieces::KeyOf(const RowKey& row, SealedPart part, uint32_t number) const {
  return SealedKeyBytes(
      session_key_,
      {.run = row.run, .lane_id = row.lane_id, .part = part, .row = row.row, .number = number});
}

absl::StatusOr<std::string_view> RowPieces::ReadPage(const RowKey& row, uint32_t page,
                                                     uint32_t count) {
  const uint32_t number = page / kBundlePages;
  ASSIGN_OR_RETURN(const std::string_view bundle,
                   ReadAt(pages_, KeyOf(row, SealedPart::kPages, number), /*near=*/true));
  return PieceOfBundle(bundle, std::min(kBundlePages, count - number * kBundlePages),
                       page % kBundlePages);
}

absl::StatusOr<std::string_view> RowPieces::ReadGroup(const RowKey& row, uint32_t group,
                                                      uint32_t count) {
  const uint32_t number = group / kBundleGroups;
  const bool near = number >= last_bundle_ && number - last_bundle_ <= kSteps + 1;
  // A bundle is mostly asked for several of its groups: then it is where it was read last.
  if (number != last_bundle_) bundles_ = near ? &dense_bundles_ : &sparse_bundles_;
  last_bundle_ = number;
  ASSIGN_OR_RETURN(const std::string_view bundle,
                   ReadAt(*bundles_, KeyOf(row, SealedPart::kGroups, number), near));
  return PieceOfBundle(bundle, std::min(kBundleGroups, count - number * kBundleGroups),
                       group % kBundleGroups);
}

absl::StatusOr<std::string_view> RowPieces::ReadAt(Place& place, std::string key, bool near) {
  place.key = std::move(key);
  const rocksdb::Slice wanted(place.key);
  rocksdb::Iterator& at = *place.at;
  for (uint32_t step = 0; near && step <= kSteps && at.Valid() && at.key().compare(wanted) < 0;
       ++step) {
    at.Next();
  }
  if (!at.Valid() || at.key() != wanted) at.Seek(wanted);
  if (at.Valid() && at.key() == wanted) return at.value().ToStringView();
  RETURN_IF_ERROR(FromRocks(at.status(), "reading a sealed row"));
  return absl::DataLossError("a piece of a sealed row is missing");
}

}  // namespace nanolane::store
