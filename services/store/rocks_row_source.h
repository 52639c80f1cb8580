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

// Reads pieces of rows one after the other, mostly ascending. Keeps its place, so that a piece near
// the last one costs a step and not a search; what is read in sequence is read ahead.
// Thread-compatible.
class RowPieces {
 public:
  RowPieces(RocksDb& db, const rocksdb::ReadOptions& options, std::string session_key);

  // Valid until the next call for the same part.
  absl::StatusOr<std::string_view> Read(const RowKey& row, SealedPart part, uint32_t number);

 private:
  struct Place {
    std::unique_ptr<rocksdb::Iterator> at;
    std::string key;
    uint32_t number = 0;  // that was read last
  };

  const std::string session_key_;
  Place pages_;
  Place groups_;
};

// The pieces of one row.
class RocksRowSource final : public timeline::RowSource {
 public:
  RocksRowSource(RowPieces& pieces, const RowKey& row) : pieces_(pieces), row_(row) {}

  absl::StatusOr<std::string_view> Page(uint32_t page) override {
    return pieces_.Read(row_, SealedPart::kPage, page);
  }
  absl::StatusOr<std::string_view> Group(uint32_t group) override {
    return pieces_.Read(row_, SealedPart::kGroup, group);
  }

 private:
  RowPieces& pieces_;
  const RowKey row_;
};

}  // namespace nanolane::store
