// Sealed rows in the database: their records, and their pieces as libs/timeline/tiles reads them.
#pragma once

#include <rocksdb/slice.h>

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

// The pieces of one row. Thread-compatible.
class RocksRowSource final : public timeline::RowSource {
 public:
  RocksRowSource(RocksDb& db, const rocksdb::ReadOptions& options, std::string session_key,
                 const RowKey& row)
      : db_(db), options_(options), session_key_(std::move(session_key)), row_(row) {}

  absl::StatusOr<std::string_view> Page(uint32_t page) override {
    return Read(SealedPart::kPage, page, page_);
  }
  absl::StatusOr<std::string_view> Group(uint32_t group) override {
    return Read(SealedPart::kGroup, group, group_);
  }

 private:
  absl::StatusOr<std::string_view> Read(SealedPart part, uint32_t number,
                                        rocksdb::PinnableSlice& to);

  RocksDb& db_;
  const rocksdb::ReadOptions options_;
  const std::string session_key_;
  const RowKey row_;
  rocksdb::PinnableSlice page_;
  rocksdb::PinnableSlice group_;
};

}  // namespace nanolane::store
