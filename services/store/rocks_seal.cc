// Sealing in the RocksDB store. A run is written as one file and ingested, where nobody sees it
// yet: its keys begin with a run number that no record names. One write batch then publishes it:
// the index loses the raw blocks and gets the sealed ones, rows get their records. A crash before
// that leaves a run without an owner, which the next start removes. Raw blocks themselves stay, for
// followers, until the log is trimmed.
#include <map>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/store/epoch_record.h"
#include "services/store/keys.h"
#include "services/store/rocks_read.h"
#include "services/store/rocks_run.h"
#include "services/store/rocks_status.h"
#include "services/store/rocks_store.h"
#include "services/store/seal_lane.h"

namespace nanolane::store {
namespace {

// Of lanes with at least so many unsealed events: a look at the index is not for every append.
absl::StatusOr<std::vector<RawLane>> ReadRawLanes(RocksDb& db, const rocksdb::ReadOptions& options,
                                                  const std::string& session_key,
                                                  const std::vector<v1::StoredLane>& lanes,
                                                  uint64_t least_events) {
  std::vector<RawLane> raw;
  for (const v1::StoredLane& lane : lanes) {
    if (lane.unsealed_events() < least_events) continue;
    std::vector<IndexedBlock> blocks;
    RETURN_IF_ERROR(ReadIndex(db, options, session_key, lane.lane_id(), nullptr, blocks));
    RawLane& to = raw.emplace_back();
    to.lane_id = lane.lane_id();
    for (const IndexedBlock& block : blocks) {
      if (block.key.sealed()) continue;
      to.blocks.push_back({.key = block.key,
                           .end_ns = block.block.end_ns(),
                           .events = block.block.events(),
                           .bytes = block.block.data_size()});
    }
  }
  return raw;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> RocksStore::SessionsToTend() {
  rocksdb::ReadOptions all;
  all.total_order_seek = true;
  std::vector<std::string> ids;
  const std::unique_ptr<rocksdb::Iterator> at = db_->Iterate(all, Family::kSessions);
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    v1::SessionRecord record;
    if (!record.ParseFromArray(at->value().data(), static_cast<int>(at->value().size()))) {
      return absl::DataLossError("a stored session is not readable");
    }
    if (record.summary().unsealed_events() > 0 || record.log_trimmed() < record.commits()) {
      ids.push_back(SessionIdOf(at->key().ToStringView()));
    }
  }
  RETURN_IF_ERROR(FromRocks(at->status(), "reading sessions"));
  return ids;
}

absl::StatusOr<std::unique_ptr<PreparedSeal>> RocksStore::PrepareSeal(
    const std::string& session_id) {
  const Snapshot snapshot(db_->db());
  const rocksdb::ReadOptions& options = snapshot.options();
  ASSIGN_OR_RETURN(const v1::SessionRecord record, ReadRecord(*db_, options, session_id));
  const bool ended = record.summary().session().ended();
  const uint64_t unsealed = record.summary().unsealed_events();
  if (unsealed == 0 || (!ended && unsealed < options_.seal.live_lane_events)) return nullptr;
  const std::string session_key = SessionKey(session_id);
  ASSIGN_OR_RETURN(const std::vector<v1::StoredLane> lanes, ReadLanes(*db_, options, session_key));
  ASSIGN_OR_RETURN(
      std::vector<RawLane> raw,
      ReadRawLanes(*db_, options, session_key, lanes, ended ? 1 : options_.seal.live_lane_events));
  const std::vector<RawLane> picked = PickForRun(std::move(raw), ended, options_.seal);
  if (picked.empty()) return nullptr;

  std::map<uint64_t, EpochState> epochs;
  RETURN_IF_ERROR(
      db_->Visit(options, Family::kEpochs, session_key,
                 [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
                   ASSIGN_OR_RETURN(epochs[EpochOf(key)], ParseEpochRecord(value));
                   return true;
                 }));
  RunBuilder builder(*db_, options, session_id, record, options_.seal.block_events);
  for (const RawLane& lane : picked) {
    RETURN_IF_ERROR(
        builder.AddLane(lane, lanes[lane.lane_id - 1], WriterLanes(epochs, lane.lane_id)));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<RocksSeal> seal, builder.Ingest());
  return seal;
}

absl::Status RocksStore::PublishSeal(PreparedSeal& prepared) {
  const auto& seal = static_cast<const RocksSeal&>(prepared);
  const std::string session_key = SessionKey(seal.session_id);
  absl::Status status =
      CheckStillThere(seal.session_id, seal.created_unix_ns, seal.number, seal.taken);
  if (!status.ok()) {
    rocksdb::WriteBatch batch;
    const std::string run = RunPrefix(session_key, seal.number);
    batch.DeleteRange(db_->family(Family::kSealed), run, PrefixEnd(run)).PermitUncheckedError();
    status.Update(db_->Write(batch, "removing a run without an owner"));
    return status;
  }
  ASSIGN_OR_RETURN(SessionLedger * ledger, FindLedger(seal.session_id));
  const uint64_t bytes_before = StoredBytesOf(ledger->summary());
  rocksdb::WriteBatch batch;
  for (const BlockKey& key : seal.taken) {
    batch.Delete(db_->family(Family::kIndex), BlockKeyBytes(session_key, key))
        .PermitUncheckedError();
  }
  for (const IndexedBlock& block : seal.made) {
    db_->Put(batch, Family::kIndex, BlockKeyBytes(session_key, block.key), block.block);
  }
  for (const StoredRow& row : seal.rows) {
    db_->Put(batch, Family::kRows, RowKeyBytes(session_key, row.key), row.row);
  }
  const v1::LogEntry entry = ledger->ApplySeal(seal.run, clock_.UnixNanos());
  db_->Put(batch, Family::kLog, LogKey(session_key, ledger->commits()), entry);
  for (const SealedLane& lane : seal.run.lanes) {
    db_->Put(batch, Family::kLanes, LaneKey(session_key, lane.lane_id),
             ledger->lanes()[lane.lane_id - 1]);
  }
  db_->Put(batch, Family::kSessions, session_key, ledger->record());
  const uint64_t bytes_after = StoredBytesOf(ledger->summary());
  status = db_->Write(batch, "publishing a sealed run");
  if (!status.ok()) {
    ForgetLedger(seal.session_id);
    return status;
  }
  stored_bytes_ += bytes_after - bytes_before;
  return absl::OkStatus();
}

// Whether what a run was made of is as it was: the session may have been deleted, and written anew,
// with the very same blocks too; the deletion took what the run has ingested.
absl::Status RocksStore::CheckStillThere(const std::string& session_id, int64_t created_unix_ns,
                                         uint32_t run, const std::vector<BlockKey>& taken) {
  ASSIGN_OR_RETURN(const v1::SessionRecord record, ReadRecord(*db_, {}, session_id));
  const auto changed = [&] {
    return absl::FailedPreconditionError(
        base::StrCat("session ", session_id, " has changed while it was sealed"));
  };
  if (record.summary().created_unix_ns() != created_unix_ns || record.next_run() != run) {
    return changed();
  }
  const std::string session_key = SessionKey(session_id);
  for (const BlockKey& key : taken) {
    rocksdb::PinnableSlice entry;
    const rocksdb::Status found =
        db_->db().Get({}, db_->family(Family::kIndex), BlockKeyBytes(session_key, key), &entry);
    if (found.IsNotFound()) return changed();
    RETURN_IF_ERROR(FromRocks(found, "reading the index"));
  }
  return absl::OkStatus();
}

}  // namespace nanolane::store
