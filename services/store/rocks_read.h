// Reads of single sessions that several parts of the RocksDB store need. Each takes the state of
// the options that it is given. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "nanolane/store/v1/disk.pb.h"
#include "services/store/keys.h"
#include "services/store/rocks_db.h"
#include "services/store/store.h"

namespace nanolane::store {

// NOT_FOUND when the session is not there.
absl::StatusOr<v1::SessionRecord> ReadRecord(RocksDb& db, const rocksdb::ReadOptions& options,
                                             const std::string& session_id);

absl::StatusOr<std::vector<v1::StoredLane>> ReadLanes(RocksDb& db,
                                                      const rocksdb::ReadOptions& options,
                                                      const std::string& session_key);

// What the index says of a block, and where the block is.
struct IndexedBlock {
  BlockKey key;
  v1::StoredBlock block;  // without data
};

// Blocks of a lane that overlap a window (null: all), by start.
absl::Status ReadIndex(RocksDb& db, const rocksdb::ReadOptions& options,
                       const std::string& session_key, uint32_t lane_id,
                       const trace::v1::TimeRange* window, std::vector<IndexedBlock>& to);

absl::Status ReadBlockData(RocksDb& db, const rocksdb::ReadOptions& options,
                           const std::string& session_key, const BlockKey& key, std::string& to);

absl::Status ReadDictionaryRange(RocksDb& db, const rocksdb::ReadOptions& options,
                                 const std::string& session_key, const DictionaryRange& range,
                                 const Store::DictionaryVisitor& visit);

// Symbols that one append carried.
absl::Status ReadSymbolsOf(RocksDb& db, const rocksdb::ReadOptions& options,
                           const std::string& session_key, uint64_t epoch, uint64_t sequence,
                           DictionaryDelta& to);

}  // namespace nanolane::store
