// Opening, committing and deleting.
#include "services/store/rocks_store.h"

#include <rocksdb/convenience.h>
#include <rocksdb/utilities/checkpoint.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/trace/wire.h"
#include "services/store/density_rows.h"
#include "services/store/epoch_record.h"
#include "services/store/keys.h"
#include "services/store/rocks_read.h"
#include "services/store/rocks_status.h"

namespace nanolane::store {
namespace {

// With density and lane ids a ledger takes up to half a megabyte.
constexpr size_t kCachedLedgers = 64;

// Copies the entries of ids above `have` and returns the id of the first of them; 0: there are
// none.
template <typename Entries>
uint32_t KeepNew(uint32_t first, uint32_t have, const Entries& from, Entries& to) {
  const int skip = first > have ? 0 : static_cast<int>(have - first + 1);
  for (int i = skip; i < from.size(); ++i) *to.Add() = from[i];
  return to.empty() ? 0 : first + static_cast<uint32_t>(skip);
}

}  // namespace

// What a commit changed of one session.
struct RocksStore::Touched {
  SessionLedger* ledger = nullptr;
  bool is_new = false;
  std::set<uint64_t> epochs;
  std::set<uint32_t> lanes;
  std::vector<std::pair<uint64_t, v1::LogEntry>> log;  // by number
};

absl::StatusOr<std::unique_ptr<RocksStore>> RocksStore::Open(const RocksStoreOptions& options,
                                                             const base::Clock& clock) {
  ASSIGN_OR_RETURN(std::unique_ptr<RocksDb> database, RocksDb::Open(options.path));
  std::unique_ptr<RocksStore> store(new RocksStore(options, clock, std::move(database)));
  RETURN_IF_ERROR(store->Recover());
  return store;
}

absl::Status RocksStore::Recover() {
  rocksdb::ReadOptions all;
  all.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> at = db_->Iterate(all, Family::kSessions);
  uint64_t bytes = 0;
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    v1::SessionRecord record;
    if (!record.ParseFromArray(at->value().data(), static_cast<int>(at->value().size()))) {
      return absl::DataLossError("a stored session is not readable");
    }
    bytes += StoredBytesOf(record.summary());
    // A run that was ingested and not published: nobody saw it.
    RETURN_IF_ERROR(SweepRuns(at->key().ToString(), record.next_run()));
  }
  stored_bytes_ = bytes;
  return FromRocks(at->status(), "reading sessions");
}

absl::Status RocksStore::SweepRuns(const std::string& session_key, uint32_t next_run) {
  const std::string from = RunPrefix(session_key, next_run);
  rocksdb::ReadOptions options;
  options.prefix_same_as_start = true;
  const std::unique_ptr<rocksdb::Iterator> at = db_->Iterate(options, Family::kSealed);
  at->Seek(from);
  RETURN_IF_ERROR(FromRocks(at->status(), "looking for runs without an owner"));
  if (!at->Valid() || !at->key().starts_with(session_key)) return absl::OkStatus();
  rocksdb::WriteBatch batch;
  batch.DeleteRange(db_->family(Family::kSealed), from, PrefixEnd(session_key))
      .PermitUncheckedError();
  return db_->Write(batch, "removing a run without an owner");
}

absl::StatusOr<SessionLedger*> RocksStore::FindLedger(const std::string& session_id) {
  const auto found = ledgers_.find(session_id);
  if (found != ledgers_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    return found->second->second.get();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<SessionLedger> ledger, LoadLedger(SessionKey(session_id)));
  if (ledger == nullptr) return nullptr;
  return Cache(session_id, std::move(ledger));
}

SessionLedger* RocksStore::Cache(const std::string& session_id,
                                 std::unique_ptr<SessionLedger> ledger) {
  recent_.emplace_front(session_id, std::move(ledger));
  ledgers_[session_id] = recent_.begin();
  return recent_.front().second.get();
}

void RocksStore::ForgetLedger(const std::string& session_id) {
  const auto cached = ledgers_.find(session_id);
  if (cached == ledgers_.end()) return;
  recent_.erase(cached->second);
  ledgers_.erase(cached);
}

absl::StatusOr<std::unique_ptr<SessionLedger>> RocksStore::LoadLedger(
    const std::string& session_key) {
  LedgerState state;
  ASSIGN_OR_RETURN(const bool found, db_->Get({}, Family::kSessions, session_key, state.record));
  if (!found) return nullptr;
  const auto read_epoch = [&](std::string_view key,
                              std::string_view value) -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(state.epochs[EpochOf(key)], ParseEpochRecord(value));
    return true;
  };
  rocksdb::ReadOptions options;
  options.prefix_same_as_start = true;
  RETURN_IF_ERROR(db_->Visit(options, Family::kEpochs, session_key, read_epoch));
  ASSIGN_OR_RETURN(state.lanes, ReadLanes(*db_, options, session_key));
  RETURN_IF_ERROR(LoadOpKinds(session_key, state));
  RETURN_IF_ERROR(LoadDensity(session_key, state));
  return std::make_unique<SessionLedger>(std::move(state));
}

absl::Status RocksStore::LoadOpKinds(const std::string& session_key, LedgerState& state) {
  for (const auto& [epoch, epoch_state] : state.epochs) {
    OpKinds& kinds = state.op_kinds[epoch];
    kinds.push_back(trace::EventKind::kUnspecified);
    const DictionaryRange ops = {.epoch = epoch, .have = {}, .need = {.ops = UINT32_MAX}};
    RETURN_IF_ERROR(ReadDictionaryRange(*db_, {}, session_key, ops, [&](DictionaryDelta delta) {
      for (const trace::v1::Op& op : delta.ops()) kinds.push_back(trace::FromProto(op.kind()));
      return true;
    }));
  }
  return absl::OkStatus();
}

absl::Status RocksStore::LoadDensity(const std::string& session_key, LedgerState& state) {
  std::map<timeline::DensityPyramid::RowKey, timeline::DensityBins> rows;
  rocksdb::ReadOptions options;
  options.prefix_same_as_start = true;
  RETURN_IF_ERROR(
      db_->Visit(options, Family::kDensity, session_key,
                 [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
                   v1::DensityRow row;
                   if (!row.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
                     return absl::DataLossError("a stored row of density is not readable");
                   }
                   const auto [level, number] = ParseDensityKey(key);
                   rows[{level, number}] = FromRow(row);
                   return true;
                 }));
  state.density =
      timeline::DensityPyramid::Restore(static_cast<int>(state.record.density_level()), rows);
  return absl::OkStatus();
}

absl::Status RocksStore::CheckRoom() const {
  if (options_.max_bytes > 0 && StoredBytes() >= options_.max_bytes) {
    return absl::ResourceExhaustedError(base::StrCat(
        "the store is full: it holds ", StoredBytes(), " bytes and may hold ", options_.max_bytes,
        "; delete sessions (\"nanolane rm\") or start it with a "
        "larger --max-bytes"));
  }
  struct statvfs disk {};
  if (::statvfs(options_.path.c_str(), &disk) != 0) return absl::OkStatus();
  const uint64_t free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
  if (free_bytes >= options_.min_free_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(base::StrCat(
      "the store's disk is full: ", free_bytes, " bytes are free and ", options_.min_free_bytes,
      " are kept free; delete sessions (\"nanolane rm\") or "
      "free space"));
}

void RocksStore::Commit(std::span<AppendItem> items) {
  rocksdb::WriteBatch batch;
  std::map<std::string, Touched> touched;
  const absl::Status room = CheckRoom();
  uncommitted_bytes_ = 0;
  for (AppendItem& item : items) {
    // What a session says of itself still goes in: its end, its losses.
    const bool refused = !room.ok() && item.request->blocks_size() > 0;
    item.status = refused ? room : CommitOne(item, touched, batch);
  }
  absl::Status written;
  if (!touched.empty()) {
    WriteTouched(touched, batch);
    written = db_->Write(batch, "appending");
  }
  if (written.ok()) {
    stored_bytes_ += uncommitted_bytes_;
  } else {
    // The ledgers are ahead of the disk now: forget them, whoever comes next reads anew.
    recent_.clear();
    ledgers_.clear();
    for (AppendItem& item : items) item.status.Update(written);
  }
  while (recent_.size() > kCachedLedgers) {
    ledgers_.erase(recent_.back().first);
    recent_.pop_back();
  }
}

absl::Status RocksStore::CommitOne(AppendItem& item, std::map<std::string, Touched>& touched,
                                   rocksdb::WriteBatch& batch) {
  ASSIGN_OR_RETURN(SessionLedger * ledger, FindLedger(item.session_id));
  std::unique_ptr<SessionLedger> fresh;
  if (ledger == nullptr) {
    if (!item.request->has_session()) {
      return absl::FailedPreconditionError("the first message must name the session");
    }
    fresh = std::make_unique<SessionLedger>(item.request->session(), clock_.UnixNanos());
    ledger = fresh.get();
  }
  const uint64_t bytes_before = StoredBytesOf(ledger->summary());
  ASSIGN_OR_RETURN(const Applied applied,
                   ledger->Apply(item.epoch, *item.request, clock_.UnixNanos()));
  item.acknowledged_sequence = ledger->SequenceOf(item.epoch);
  if (applied.duplicate) return absl::OkStatus();
  uncommitted_bytes_ += StoredBytesOf(ledger->summary()) - bytes_before;

  Touched& session = touched[item.session_id];
  session.ledger = ledger;
  session.epochs.insert(item.epoch);
  for (const PlacedBlock& block : applied.blocks) session.lanes.insert(block.lane_id);
  for (const uint32_t lane : applied.log.new_lanes()) session.lanes.insert(lane);
  session.log.emplace_back(ledger->commits(), applied.log);
  if (fresh != nullptr) {
    session.is_new = true;
    Cache(item.session_id, std::move(fresh));
  }
  WriteBlocks(item, applied, batch);
  WriteDictionary(item, applied.dictionary_before, batch);
  return absl::OkStatus();
}

void RocksStore::WriteBlocks(const AppendItem& item, const Applied& applied,
                             rocksdb::WriteBatch& batch) {
  const std::string session_key = SessionKey(item.session_id);
  for (const PlacedBlock& block : applied.blocks) {
    const std::string& bytes = item.request->blocks(block.index);
    const std::string key =
        BlockKeyBytes(session_key, {.lane_id = block.lane_id,
                                    .start_ns = block.header.first_ns,
                                    .epoch = item.epoch,
                                    .sequence = item.request->sequence(),
                                    .index = static_cast<uint32_t>(block.index)});
    v1::StoredBlock entry;  // without what the key says
    entry.set_end_ns(block.header.last_ns);
    entry.set_events(block.header.event_count);
    entry.set_data_size(static_cast<uint32_t>(bytes.size()));
    db_->Put(batch, Family::kIndex, key, entry);
    batch.Put(db_->family(Family::kBlocks), key, bytes).PermitUncheckedError();
  }
}

void RocksStore::WriteDictionary(const AppendItem& item, const trace::DictionarySizes& before,
                                 rocksdb::WriteBatch& batch) {
  const DictionaryDelta& delta = item.request->dictionary();
  const std::string session_key = SessionKey(item.session_id);
  const auto put = [&](DictionaryTable table, uint64_t first, const DictionaryDelta& piece) {
    db_->Put(batch, Family::kDictionary, DictionaryKey(session_key, item.epoch, table, first),
             piece);
  };
  // Entries that are stored already are left out, so that pieces never overlap.
  DictionaryDelta piece;
  if (const auto first = KeepNew(delta.first_string(), before.strings, delta.strings(),
                                 *piece.mutable_strings())) {
    put(DictionaryTable::kStrings, first, piece);
  }
  piece.Clear();
  if (const auto first =
          KeepNew(delta.first_frame(), before.frames, delta.frames(), *piece.mutable_frames())) {
    put(DictionaryTable::kFrames, first, piece);
  }
  piece.Clear();
  if (const auto first =
          KeepNew(delta.first_stack(), before.stacks, delta.stacks(), *piece.mutable_stacks())) {
    put(DictionaryTable::kStacks, first, piece);
  }
  piece.Clear();
  if (const auto first = KeepNew(delta.first_op(), before.ops, delta.ops(), *piece.mutable_ops())) {
    put(DictionaryTable::kOps, first, piece);
  }
  if (delta.symbols_size() > 0) {
    piece.Clear();
    *piece.mutable_symbols() = delta.symbols();
    put(DictionaryTable::kSymbols, item.request->sequence(), piece);
  }
}

void RocksStore::WriteTouched(const std::map<std::string, Touched>& touched,
                              rocksdb::WriteBatch& batch) {
  for (const auto& [session_id, session] : touched) {
    const std::string key = SessionKey(session_id);
    SessionLedger& ledger = *session.ledger;
    if (session.is_new) {
      batch.Put(db_->family(Family::kByTime), TimeKey(ledger.summary().created_unix_ns(), key), "")
          .PermitUncheckedError();
    }
    for (const uint64_t epoch : session.epochs) {
      batch
          .Put(db_->family(Family::kEpochs), EpochKey(key, epoch),
               EpochRecord(ledger.epochs().at(epoch)))
          .PermitUncheckedError();
    }
    for (const uint32_t lane : session.lanes) {
      db_->Put(batch, Family::kLanes, LaneKey(key, lane), ledger.lanes()[lane - 1]);
    }
    for (const auto& [number, entry] : session.log) {
      db_->Put(batch, Family::kLog, LogKey(key, number), entry);
    }
    if (WriteDensity(key, ledger, batch)) {
      const int coarsest = timeline::DensityPyramid::kLevels - 1;
      ledger.SetCoarsestDensity(ToRow(ledger.density().bins(coarsest)));
    }
    db_->Put(batch, Family::kSessions, key, ledger.record());
  }
}

// Whether anything has changed in it.
bool RocksStore::WriteDensity(const std::string& session_key, SessionLedger& ledger,
                              rocksdb::WriteBatch& batch) {
  const auto changed = ledger.TakeChangedDensity();
  for (const auto& row : changed) {
    const std::string key = DensityKey(session_key, row.level, row.row);
    const timeline::DensityBins bins = ledger.density().RowOf(row);
    if (bins.empty()) {
      batch.Delete(db_->family(Family::kDensity), key).PermitUncheckedError();
    } else {
      db_->Put(batch, Family::kDensity, key, ToRow(bins));
    }
  }
  return !changed.empty();
}

absl::Status RocksStore::Delete(const std::string& session_id) {
  const std::string key = SessionKey(session_id);
  ForgetLedger(session_id);
  op_labels_.Forget(session_id);
  v1::SessionRecord record;
  ASSIGN_OR_RETURN(const bool found, db_->Get({}, Family::kSessions, key, record));
  if (!found) return absl::OkStatus();
  rocksdb::WriteBatch batch;
  batch.Delete(db_->family(Family::kByTime), TimeKey(record.summary().created_unix_ns(), key))
      .PermitUncheckedError();
  for (const Family ranged : kFamiliesOfSession) {
    batch.DeleteRange(db_->family(ranged), key, PrefixEnd(key)).PermitUncheckedError();
  }
  RETURN_IF_ERROR(db_->Write(batch, "deleting a session"));
  stored_bytes_ -= StoredBytesOf(record.summary());
  return absl::OkStatus();
}

void RocksStore::Reclaim(const std::string& session_id) {
  const std::string key = SessionKey(session_id);
  const std::string end = PrefixEnd(key);
  const rocksdb::Slice from(key);
  const rocksdb::Slice to(end);
  v1::SessionRecord record;
  const auto found = db_->Get({}, Family::kSessions, key, record);
  if (found.ok() && !*found) {
    // Sealed files hold one session each: they go whole, without a compaction.
    const rocksdb::RangePtr range(&from, &to);
    const rocksdb::Status dropped = rocksdb::DeleteFilesInRanges(
        &db_->db(), db_->family(Family::kSealed), &range, 1, /*include_end=*/false);
    if (!dropped.ok())
      base::LogWarning("store", base::StrCat("dropping files: ", dropped.ToString()));
  }
  for (const Family large : {Family::kDictionary, Family::kIndex, Family::kLog, Family::kDensity,
                             Family::kRows, Family::kBlocks}) {
    rocksdb::CompactRangeOptions compaction;
    compaction.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    compaction.exclusive_manual_compaction = false;
    const rocksdb::Status compacted =
        db_->db().CompactRange(compaction, db_->family(large), &from, &to);
    if (!compacted.ok()) {
      base::LogWarning("store",
                       base::StrCat("giving back a session's space: ", compacted.ToString()));
    }
  }
}

absl::StatusOr<std::string> RocksStore::CreateCheckpoint(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
  if (!plain || name.empty() || name.size() > 64) {
    return absl::InvalidArgumentError(base::StrCat("bad checkpoint name \"", name,
                                                   "\": write up to 64 letters, digits, - and _"));
  }
  const std::string folder = options_.path + "/checkpoints";
  const std::string path = folder + "/" + name;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (std::filesystem::exists(path, error)) {
    return absl::AlreadyExistsError(
        base::StrCat("there is a checkpoint ", path, "; choose another name or remove it"));
  }
  rocksdb::Checkpoint* checkpoint = nullptr;
  RETURN_IF_ERROR(
      FromRocks(rocksdb::Checkpoint::Create(&db_->db(), &checkpoint), "making a checkpoint"));
  const std::unique_ptr<rocksdb::Checkpoint> owned(checkpoint);
  RETURN_IF_ERROR(FromRocks(owned->CreateCheckpoint(path), "making a checkpoint"));
  return path;
}

}  // namespace nanolane::store
