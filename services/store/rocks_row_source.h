// Sealed rows in the database: their records, and their pieces as libs/timeline/tiles reads them.
#pragma once

#include <rocksdb/iterator.h>

#include <memory>
#include <string>
#include <vector>

#include "libs/timeline/tiles/row_format.h"
#include "nanolane/store/v1/disk.pb.h"
#include "services/store/keys.h"
#include "services/store/rocks_db.h"
#include "services/store/store.h"

namespace nanolane::store {

struct StoredRow {
  RowKey key;
  v1::SealedRow row;
};

// Rows of a lane, in the order of runs.
absl::StatusOr<std::vector<StoredRow>> ReadRows(RocksDb& db, const rocksdb::ReadOptions& options,
                                                const std::string& session_key, uint32_t lane_id);

// Reads pieces of rows one after the other, mostly ascending. Keeps its places, so that a piece
// just behind the last one costs a step and not a search, and what is read in sequence is read
// ahead. Thread-compatible.
class RowPieces {
 public:
  RowPieces(RocksDb& db, const rocksdb::ReadOptions& options, std::string session_key);

  // Valid until the next call of the same function. `count`: of the row's pages or groups in all.
  absl::StatusOr<std::string_view> ReadPage(const RowKey& row, uint32_t page, uint32_t count);
  absl::StatusOr<std::string_view> ReadGroup(const RowKey& row, uint32_t group, uint32_t count);

 private:
  // Bundles that are rather passed over by steps than by a search.
  static constexpr uint32_t kSteps = 1;

  struct Place {
    std::unique_ptr<rocksdb::Iterator> at;
    std::string key;  // that was sought last
  };

  std::string KeyOf(const RowKey& row, SealedPart part, uint32_t number) const;
  absl::StatusOr<std::string_view> ReadAt(Place& place, std::string key, bool near);

  const std::string session_key_;
  Place pages_;                       // nearly all are read: read ahead
  Place dense_bundles_;               // those near the one before: read ahead
  Place sparse_bundles_;              // others
  Place* bundles_ = &dense_bundles_;  // that was read from last
  uint32_t last_bundle_ = 0;
};

// The pieces of one row.
class RocksRowSource final : public timeline::RowSource {
 public:
  // `spans`: of the row in all.
  RocksRowSource(RowPieces& pieces, const RowKey& row, uint64_t spans)
      : pieces_(pieces),
        row_(row),
        pages_(PiecesOf(spans, timeline::kPageEvents)),
        groups_(PiecesOf(spans, timeline::kGroupEvents)) {}

  absl::StatusOr<std::string_view> Page(uint32_t page) override {
    return pieces_.ReadPage(row_, page, pages_);
  }
  absl::StatusOr<std::string_view> Group(uint32_t group) override {
    return pieces_.ReadGroup(row_, group, groups_);
  }

 private:
  static uint32_t PiecesOf(uint64_t spans, uint32_t per_piece) {
    return static_cast<uint32_t>((spans + per_piece - 1) / per_piece);
  }

  RowPieces& pieces_;
  const RowKey row_;
  const uint32_t pages_;
  const uint32_t groups_;
};

}  // namespace nanolane::store
