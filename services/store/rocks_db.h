// The database under the RocksDB store: its column families, how each is tuned, and small helpers.
// docs/adr/0005-rocksdb.md says why it is tuned so, docs/storage-format.md what lies in it.
//
// Thread-safe, as RocksDB is.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/snapshot.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message_lite.h"

namespace nanolane::store {

enum class Family : uint8_t {
  kMeta,
  kSessions,
  kByTime,
  kEpochs,
  kLanes,
  kDictionary,
  kIndex,
  kBlocks,
  kLog,
  kDensity,
  kRows,
  kSealed,
};
inline constexpr size_t kFamilyCount = 12;

// Families whose keys begin with a session's, all of which go with it.
inline constexpr std::array kFamiliesOfSession = {
    Family::kSessions, Family::kEpochs, Family::kLanes,   Family::kDictionary, Family::kIndex,
    Family::kBlocks,   Family::kLog,    Family::kDensity, Family::kRows,       Family::kSealed};

// One state of the database for as long as it lives.
class Snapshot {
 public:
  explicit Snapshot(rocksdb::DB& db) : managed_(&db) {
    options_.snapshot = managed_.snapshot();
    // Iterators stay within what they sought: prefix filters may be used.
    options_.prefix_same_as_start = true;
  }
  const rocksdb::ReadOptions& options() const { return options_; }

 private:
  rocksdb::ManagedSnapshot managed_;
  rocksdb::ReadOptions options_;
};

class RocksDb {
 public:
  // Opens or creates the database in folder `path`. FAILED_PRECONDITION when another process has
  // it open or another version wrote it.
  static absl::StatusOr<std::unique_ptr<RocksDb>> Open(const std::string& path);
  ~RocksDb();

  rocksdb::DB& db() { return *db_; }
  // Where a file is written before it is ingested.
  std::string SealFile() const { return path_ + "/sealing.sst.new"; }
  rocksdb::ColumnFamilyHandle* family(Family family) const {
    return families_[static_cast<size_t>(family)];
  }

  std::unique_ptr<rocksdb::Iterator> Iterate(const rocksdb::ReadOptions& options, Family family);

  // False: it is not there. DATA_LOSS when the value is not readable as the message.
  absl::StatusOr<bool> Get(const rocksdb::ReadOptions& options, Family family, std::string_view key,
                           google::protobuf::MessageLite& to);

  // Calls `visit` for what starts with `prefix` (a session's key at least), in order, until it
  // returns false.
  absl::Status Visit(const rocksdb::ReadOptions& options, Family family, std::string_view prefix,
                     const std::function<absl::StatusOr<bool>(std::string_view key,
                                                              std::string_view value)>& visit);

  // Synced: what it says OK for is on disk.
  absl::Status Write(rocksdb::WriteBatch& batch, std::string_view doing);
  void Put(rocksdb::WriteBatch& batch, Family family, std::string_view key,
           const google::protobuf::MessageLite& value) const;

 private:
  explicit RocksDb(std::string path) : path_(std::move(path)) {}
  absl::Status CheckFormat();

  const std::string path_;
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilyCount> families_{};
};

inline rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace nanolane::store
