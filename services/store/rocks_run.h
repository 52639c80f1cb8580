// A run of sealing in the RocksDB store: building it from the blocks that it takes, and ingesting
// it, where nobody sees it before it is published. Thread-compatible.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "services/store/rocks_read.h"
#include "services/store/rocks_row_source.h"
#include "services/store/seal_lane.h"
#include "services/store/store.h"

namespace nanolane::store {

class RocksSeal final : public PreparedSeal {
 public:
  std::string session_id;
  int64_t created_unix_ns = 0;  // of the session, which may be deleted and written anew meanwhile
  uint32_t number = 0;          // of the run
  SealedRun run;
  std::vector<BlockKey> taken;
  std::vector<IndexedBlock> made;
  std::vector<StoredRow> rows;
};

// Gathers what a run writes, lane by lane.
class RunBuilder {
 public:
  RunBuilder(RocksDb& db, const rocksdb::ReadOptions& options, std::string session_id,
             const v1::SessionRecord& record, size_t block_events);

  // `writer_lanes`: see WriterLanes().
  absl::Status AddLane(const RawLane& lane, const v1::StoredLane& stored,
                       const std::map<uint64_t, trace::LaneId>& writer_lanes);

  // Writes everything as one file and has it ingested.
  absl::StatusOr<std::unique_ptr<RocksSeal>> Ingest();

 private:
  void AddBlocks(uint32_t lane_id, std::vector<SealedBlock>& blocks);
  absl::Status AddRows(uint32_t lane_id, const std::vector<EpochEvents>& epochs);
  void AddRow(const RowKey& key, v1::SealedRow record, timeline::RowBytes bytes);
  void Put(uint32_t lane_id, SealedPart part, uint16_t row, uint32_t number, std::string value);
  absl::Status WriteFile(const std::string& path) const;

  RocksDb& db_;
  const rocksdb::ReadOptions options_;
  const size_t block_events_;
  const std::string session_key_;
  std::unique_ptr<RocksSeal> seal_;
  std::map<std::string, std::string> values_;  // by key: a file is written in their order
};

}  // namespace nanolane::store
