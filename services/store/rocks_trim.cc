// Trimming in the RocksDB store: log entries and raw blocks that were kept for followers alone, and
// the files that hold nothing else.
#include <utility>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/store/keys.h"
#include "services/store/rocks_status.h"
#include "services/store/rocks_store.h"

namespace nanolane::store {
namespace {

// At most so many entries of a log are forgotten at once: the committer waits.
constexpr int kTrimmedAtOnce = 4'096;

}  // namespace

absl::StatusOr<LogLeft> RocksStore::TrimLog(const std::string& session_id) {
  ASSIGN_OR_RETURN(SessionLedger * ledger, FindLedger(session_id));
  if (ledger == nullptr) return LogLeft::kNothing;
  const std::string session_key = SessionKey(session_id);
  const int64_t until_ns = clock_.UnixNanos() - options_.seal.keep_log_ns;
  uint64_t trimmed = ledger->record().log_trimmed();
  rocksdb::WriteBatch batch;
  int count = 0;
  uint64_t bytes = 0;
  for (; trimmed < ledger->commits() && count < kTrimmedAtOnce; ++trimmed, ++count) {
    v1::LogEntry entry;
    const std::string key = LogKey(session_key, trimmed + 1);
    ASSIGN_OR_RETURN(const bool found, db_->Get({}, Family::kLog, key, entry));
    if (!found) return absl::DataLossError("an entry is missing in a session's log");
    if (entry.unix_ns() > until_ns) break;
    ASSIGN_OR_RETURN(const bool sealed, DeleteRawBlocks(session_key, entry, batch));
    if (!sealed) break;
    batch.Delete(db_->family(Family::kLog), key).PermitUncheckedError();
    for (const v1::LoggedBlock& block : entry.blocks()) bytes += block.bytes();
  }
  const LogLeft left = trimmed == ledger->commits() ? LogLeft::kNothing
                       : count == kTrimmedAtOnce    ? LogLeft::kOld
                                                    : LogLeft::kYoung;
  if (count == 0) return left;
  ledger->TrimLog(trimmed);
  db_->Put(batch, Family::kSessions, session_key, ledger->record());
  const absl::Status written = db_->Write(batch, "trimming a session's log");
  if (!written.ok()) ForgetLedger(session_id);
  RETURN_IF_ERROR(written);
  trimmed_bytes_ += bytes;
  return left;
}

void RocksStore::ReclaimTrimmed() {
  uint64_t raw_bytes = 0;
  if (!db_->db().GetIntProperty(db_->family(Family::kBlocks),
                                rocksdb::DB::Properties::kTotalBlobFileSize, &raw_bytes)) {
    return;
  }
  const uint64_t trimmed = trimmed_bytes_.load();
  if (trimmed < options_.reclaim_bytes || trimmed < raw_bytes / 2) return;
  trimmed_bytes_ -= trimmed;
  rocksdb::CompactRangeOptions compaction;
  compaction.exclusive_manual_compaction = false;
  compaction.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  const rocksdb::Status compacted =
      db_->db().CompactRange(compaction, db_->family(Family::kBlocks), nullptr, nullptr);
  if (!compacted.ok()) {
    base::LogWarning("store", base::StrCat("clearing sealed blocks away: ", compacted.ToString()));
  }
}

// False, and nothing is added to the batch: the index still has one of them.
absl::StatusOr<bool> RocksStore::DeleteRawBlocks(const std::string& session_key,
                                                 const v1::LogEntry& entry,
                                                 rocksdb::WriteBatch& batch) {
  std::vector<std::string> keys;
  for (int i = 0; i < entry.blocks_size(); ++i) {
    keys.push_back(BlockKeyBytes(session_key, {.lane_id = entry.blocks(i).lane_id(),
                                               .start_ns = entry.blocks(i).start_ns(),
                                               .epoch = entry.epoch(),
                                               .sequence = entry.sequence(),
                                               .index = static_cast<uint32_t>(i)}));
    rocksdb::PinnableSlice indexed;
    const rocksdb::Status found =
        db_->db().Get({}, db_->family(Family::kIndex), keys.back(), &indexed);
    if (found.ok()) return false;
    if (!found.IsNotFound()) return FromRocks(found, "reading the index");
  }
  for (const std::string& key : keys) {
    batch.Delete(db_->family(Family::kBlocks), key).PermitUncheckedError();
  }
  return true;
}

}  // namespace nanolane::store
