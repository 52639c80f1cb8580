// Sealing in the RocksDB store. A run is written as one file and ingested, where nobody sees it
// yet: its keys begin with a run number that no record names. One write batch then publishes it:
// the index loses the raw blocks and gets the sealed ones, rows get their records. A crash before
// that leaves a run without an owner, which the next start removes. Raw blocks themselves stay, for
// followers, until the log is trimmed.
#include <rocksdb/sst_file_writer.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/timeline/tiles/build_row.h"
#include "libs/timeline/tiles/plan_rows.h"
#include "libs/timeline/tiles/visit_spans.h"
#include "services/store/bundle.h"
#include "services/store/epoch_record.h"
#include "services/store/keys.h"
#include "services/store/rocks_read.h"
#include "services/store/rocks_row_source.h"
#include "services/store/rocks_status.h"
#include "services/store/rocks_store.h"
#include "services/store/seal_lane.h"
#include "services/store/tile_answer.h"

namespace nanolane::store {
namespace {

// At most so many entries of a log are forgotten at once: the committer waits.
constexpr int kTrimmedAtOnce = 4'096;

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

// The union of what is sealed of a lane: rows of former runs, in the database, and those of this
// run that are planned already.
class LaneCover final : public timeline::SealedCover {
 public:
  LaneCover(RocksDb& db, const rocksdb::ReadOptions& options, const std::string& session_key,
            const std::vector<StoredRow>& stored)
      : pieces_(db, options, session_key), stored_(stored) {}

  void Add(const timeline::PlannedRow& row) {
    if (row.role.covers) planned_.push_back(row.spans);
  }

  std::optional<int64_t> End() override {
    std::optional<int64_t> end;
    for (const StoredRow& row : stored_) {
      if (row.row.covers()) end = std::max(end.value_or(row.row.end_ns()), row.row.end_ns());
    }
    for (const auto& spans : planned_) {
      for (const timeline::TileSpan& span : spans) {
        end = std::max(end.value_or(span.end_ns), span.end_ns);
      }
    }
    return end;
  }

  absl::Status Visit(int64_t from_ns, int64_t to_ns,
                     absl::FunctionRef<void(int64_t, int64_t)> visit) override {
    const timeline::Window window = {.start_ns = from_ns, .end_ns = to_ns};
    for (const StoredRow& row : stored_) {
      if (!row.row.covers() || row.row.start_ns() >= to_ns || row.row.end_ns() <= from_ns) continue;
      RocksRowSource source(pieces_, row.key, row.row.spans());
      RETURN_IF_ERROR(timeline::VisitSpans(
          row.row.root(), source, window,
          [&](const timeline::TileSpan& span) { visit(span.start_ns, span.end_ns); }));
    }
    for (const auto& spans : planned_) {
      for (const timeline::TileSpan& span : spans) {
        if (span.start_ns < to_ns && span.end_ns > from_ns) visit(span.start_ns, span.end_ns);
      }
    }
    return absl::OkStatus();
  }

 private:
  RowPieces pieces_;
  const std::vector<StoredRow>& stored_;
  std::vector<std::vector<timeline::TileSpan>> planned_;
};

// Gathers what a run writes. Keys come in any order and are written sorted.
class RunBuilder {
 public:
  RunBuilder(RocksDb& db, const rocksdb::ReadOptions& options, std::string session_id,
             const v1::SessionRecord& record, size_t block_events)
      : db_(db),
        options_(options),
        block_events_(block_events),
        session_key_(SessionKey(session_id)),
        seal_(std::make_unique<RocksSeal>()) {
    seal_->session_id = std::move(session_id);
    seal_->created_unix_ns = record.summary().created_unix_ns();
    seal_->number = record.next_run();
  }

  absl::Status AddLane(const RawLane& lane, const v1::StoredLane& stored,
                       const std::map<uint64_t, trace::LaneId>& writer_lanes) {
    std::vector<RawBytes> bytes;
    uint64_t events = 0;
    for (const RawBlock& raw : lane.blocks) {
      RawBytes& to = bytes.emplace_back();
      to = {.epoch = raw.key.epoch, .sequence = raw.key.sequence, .index = raw.key.index};
      RETURN_IF_ERROR(ReadBlockData(db_, options_, session_key_, raw.key, to.data));
      seal_->taken.push_back(raw.key);
      events += raw.events;
      seal_->run.bytes_taken += raw.bytes;
    }
    ASSIGN_OR_RETURN(LaidOutLane laid_out,
                     LayOutLane(std::move(bytes), writer_lanes, IsMemory(stored), block_events_));
    seal_->run.events += events;
    seal_->run.lanes.push_back({.lane_id = lane.lane_id,
                                .events = events,
                                .blocks_taken = lane.blocks.size(),
                                .blocks_made = laid_out.blocks.size()});
    AddBlocks(lane.lane_id, laid_out.blocks);
    return AddRows(lane.lane_id, laid_out.epochs);
  }

  std::unique_ptr<RocksSeal> Take() { return std::move(seal_); }
  const std::map<std::string, std::string>& values() const { return values_; }

 private:
  void AddBlocks(uint32_t lane_id, std::vector<SealedBlock>& blocks) {
    uint32_t number = 0;
    for (SealedBlock& block : blocks) {
      IndexedBlock& entry = seal_->made.emplace_back();
      entry.key = {.lane_id = lane_id,
                   .start_ns = block.header.first_ns,
                   .epoch = block.epoch,
                   .sequence = kSealedBit | seal_->number,
                   .index = number};
      entry.block.set_end_ns(block.header.last_ns);
      entry.block.set_events(block.header.event_count);
      entry.block.set_data_size(static_cast<uint32_t>(block.data.size()));
      seal_->run.bytes_made += block.data.size();
      Put(lane_id, SealedPart::kBlock, 0, number++, std::move(block.data));
    }
  }

  absl::Status AddRows(uint32_t lane_id, const std::vector<EpochEvents>& epochs) {
    ASSIGN_OR_RETURN(const std::vector<StoredRow> stored,
                     ReadRows(db_, options_, session_key_, lane_id));
    LaneCover cover(db_, options_, session_key_, stored);
    uint16_t row_number = 0;
    for (const EpochEvents& epoch : epochs) {
      if (!epoch.levels.empty()) {
        AddRow({.lane_id = lane_id, .run = seal_->number, .row = row_number++}, LevelsRecord(epoch),
               timeline::BuildLevels(epoch.levels));
      }
      if (epoch.spans.empty()) continue;
      ASSIGN_OR_RETURN(const std::vector<timeline::PlannedRow> rows,
                       timeline::PlanRows(epoch.spans, cover));
      for (const timeline::PlannedRow& row : rows) {
        cover.Add(row);
        AddRow({.lane_id = lane_id, .run = seal_->number, .row = row_number++},
               SpansRecord(epoch.epoch, row), timeline::BuildRow(row.spans, row.kind));
      }
    }
    return absl::OkStatus();
  }

  static v1::SealedRow LevelsRecord(const EpochEvents& epoch) {
    v1::SealedRow record;
    record.set_epoch(epoch.epoch);
    record.set_start_ns(epoch.levels.front().time_ns);
    record.set_end_ns(epoch.levels.back().time_ns);
    record.set_spans(epoch.levels.size());
    return record;
  }

  static v1::SealedRow SpansRecord(uint64_t epoch, const timeline::PlannedRow& row) {
    v1::SealedRow record;
    record.set_epoch(epoch);
    record.set_kind(static_cast<uint32_t>(row.kind));
    record.set_events(row.role.events);
    record.set_covers(row.role.covers);
    record.set_start_ns(row.spans.front().start_ns);
    int64_t end_ns = row.spans.front().end_ns;
    for (const timeline::TileSpan& span : row.spans) end_ns = std::max(end_ns, span.end_ns);
    record.set_end_ns(end_ns);
    record.set_spans(row.spans.size());
    return record;
  }

  void AddRow(const RowKey& key, v1::SealedRow record, timeline::RowBytes bytes) {
    seal_->run.index_bytes += bytes.root.size();
    record.set_root(std::move(bytes.root));
    seal_->rows.push_back({.key = key, .row = std::move(record)});
    const auto put_all = [&](SealedPart part, std::vector<std::string> bundles) {
      for (uint32_t i = 0; i < bundles.size(); ++i) {
        seal_->run.index_bytes += bundles[i].size();
        Put(key.lane_id, part, key.row, i, std::move(bundles[i]));
      }
    };
    put_all(SealedPart::kPages, Bundle(bytes.pages, kBundlePages));
    put_all(SealedPart::kGroups, Bundle(bytes.groups, kBundleGroups));
  }

  void Put(uint32_t lane_id, SealedPart part, uint16_t row, uint32_t number, std::string value) {
    values_[SealedKeyBytes(
        session_key_,
        {.run = seal_->number, .lane_id = lane_id, .part = part, .row = row, .number = number})] =
        std::move(value);
  }

  RocksDb& db_;
  const rocksdb::ReadOptions options_;
  const size_t block_events_;
  const std::string session_key_;
  std::unique_ptr<RocksSeal> seal_;
  std::map<std::string, std::string> values_;
};

absl::Status WriteFile(RocksDb& db, const std::string& path,
                       const std::map<std::string, std::string>& values) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(),
                                db.db().GetOptions(db.family(Family::kSealed)),
                                db.family(Family::kSealed));
  RETURN_IF_ERROR(FromRocks(writer.Open(path), "writing a sealed run"));
  for (const auto& [key, value] : values) {
    RETURN_IF_ERROR(FromRocks(writer.Put(key, value), "writing a sealed run"));
  }
  return FromRocks(writer.Finish(), "writing a sealed run");
}

absl::Status Ingest(RocksDb& db, const std::map<std::string, std::string>& values) {
  const std::string path = db.SealFile();
  std::error_code ignored;
  std::filesystem::remove(path, ignored);  // of a run that failed
  RETURN_IF_ERROR(WriteFile(db, path, values));
  rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  return FromRocks(db.db().IngestExternalFile(db.family(Family::kSealed), {path}, options),
                   "ingesting a sealed run");
}

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
  RETURN_IF_ERROR(Ingest(*db_, builder.values()));
  return builder.Take();
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
