// Opening, committing and deleting. Reads are in rocks_store_read.cc.
#include "services/store/rocks_store.h"

#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <set>
#include <utility>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/store/epoch_record.h"
#include "services/store/keys.h"
#include "services/store/rocks_status.h"

namespace nanolane::store {
namespace {

constexpr size_t kCachedLedgers = 256;
constexpr const char* kFormatKey = "format";

rocksdb::Options DatabaseOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.max_background_jobs = 2;
  options.bytes_per_sync = 1 << 20;
  options.max_total_wal_size = 256 << 20;
  options.keep_log_file_num = 4;
  options.max_open_files = 512;
  options.info_log_level = rocksdb::WARN_LEVEL;
  return options;
}

rocksdb::ColumnFamilyOptions SmallValues(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = 16 << 20;
  options.compression = rocksdb::kZSTD;
  return options;
}

// Encoded blocks: compressed already, written once, read in key order.
rocksdb::ColumnFamilyOptions LargeValues(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options = SmallValues(cache);
  options.write_buffer_size = 64 << 20;
  options.max_write_buffer_number = 4;
  options.compression = rocksdb::kNoCompression;
  options.enable_blob_files = true;
  options.min_blob_size = 512;
  options.blob_file_size = 256 << 20;
  options.enable_blob_garbage_collection = true;
  options.blob_garbage_collection_age_cutoff = 1.0;
  options.blob_garbage_collection_force_threshold = 0.5;
  return options;
}

// Copies the entries of ids above `have` and returns the id of the first of them; 0: there are
// none.
template <typename Entries>
uint32_t KeepNew(uint32_t first, uint32_t have, const Entries& from, Entries& to) {
  const int skip = first > have ? 0 : static_cast<int>(have - first + 1);
  for (int i = skip; i < from.size(); ++i) *to.Add() = from[i];
  return to.empty() ? 0 : first + static_cast<uint32_t>(skip);
}

rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace

// What a commit changed of one session.
struct RocksStore::Touched {
  SessionLedger* ledger = nullptr;
  bool is_new = false;
  std::set<uint64_t> epochs;
  std::set<uint32_t> lanes;
};

absl::StatusOr<std::unique_ptr<RocksStore>> RocksStore::Open(const std::string& path,
                                                             const base::Clock& clock) {
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(64 << 20);
  const std::vector<rocksdb::ColumnFamilyDescriptor> descriptors = {
      {rocksdb::kDefaultColumnFamilyName, SmallValues(cache)},
      {"sessions", SmallValues(cache)},
      {"by_time", SmallValues(cache)},
      {"epochs", SmallValues(cache)},
      {"lanes", SmallValues(cache)},
      {"dictionary", SmallValues(cache)},
      {"index", SmallValues(cache)},
      {"blocks", LargeValues(cache)}};
  rocksdb::DB* opened = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status =
      rocksdb::DB::Open(DatabaseOptions(), path, descriptors, &handles, &opened);
  if (status.IsIOError() && status.ToString().find("lock") != std::string::npos) {
    return absl::FailedPreconditionError(base::StrCat(
        "the store in ", path, " is open in another process; end that one, or use another folder"));
  }
  RETURN_IF_ERROR(FromRocks(status, base::StrCat("opening the store in ", path)));
  std::unique_ptr<RocksStore> store(new RocksStore(clock));
  store->db_.reset(opened);
  std::copy(handles.begin(), handles.end(), store->families_.begin());
  RETURN_IF_ERROR(store->CheckFormat());
  return store;
}

RocksStore::~RocksStore() {
  for (rocksdb::ColumnFamilyHandle* handle : families_) {
    if (handle != nullptr) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  const rocksdb::Status closed = db_->Close();
  if (!closed.ok()) base::LogError("store", base::StrCat("closing: ", closed.ToString()));
}

absl::Status RocksStore::CheckFormat() {
  std::string format;
  const rocksdb::Status status = db_->Get({}, family(kMeta), kFormatKey, &format);
  const std::string ours = base::StrCat(kFormatVersion);
  if (status.IsNotFound()) {
    rocksdb::WriteOptions synced;
    synced.sync = true;
    return FromRocks(db_->Put(synced, family(kMeta), kFormatKey, ours),
                     "writing the format version");
  }
  RETURN_IF_ERROR(FromRocks(status, "reading the format version"));
  if (format != ours) {
    return absl::FailedPreconditionError(
        base::StrCat("the store has format ", format, ", this program reads ", ours,
                     "; use the version that wrote it, or another folder"));
  }
  return absl::OkStatus();
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

absl::StatusOr<std::unique_ptr<SessionLedger>> RocksStore::LoadLedger(
    const std::string& session_key) {
  std::string bytes;
  const rocksdb::Status status = db_->Get({}, family(kSessions), session_key, &bytes);
  if (status.IsNotFound()) return nullptr;
  RETURN_IF_ERROR(FromRocks(status, "reading a session"));
  SessionSummary summary;
  if (!summary.ParseFromString(bytes))
    return absl::DataLossError("a stored session is not readable");
  std::map<uint64_t, EpochState> epochs;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}, family(kEpochs)));
  for (at->Seek(session_key); at->Valid() && at->key().starts_with(session_key); at->Next()) {
    ASSIGN_OR_RETURN(epochs[EpochOf(at->key().ToStringView())],
                     ParseEpochRecord(at->value().ToStringView()));
  }
  RETURN_IF_ERROR(FromRocks(at->status(), "reading epochs"));
  ASSIGN_OR_RETURN(std::vector<v1::StoredLane> lanes, ReadLanes(session_key, {}));
  return std::make_unique<SessionLedger>(std::move(summary), std::move(epochs), std::move(lanes));
}

void RocksStore::Commit(std::span<AppendItem> items) {
  rocksdb::WriteBatch batch;
  std::map<std::string, Touched> touched;
  for (AppendItem& item : items) item.status = CommitOne(item, touched, batch);
  absl::Status written;
  if (!touched.empty()) {
    WriteTouched(touched, batch);
    rocksdb::WriteOptions synced;
    synced.sync = true;
    written = FromRocks(db_->Write(synced, &batch), "appending");
  }
  if (!written.ok()) {
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
  const size_t lanes_before = ledger->lanes().size();
  ASSIGN_OR_RETURN(const Applied applied, ledger->Apply(item.epoch, *item.request));
  item.acknowledged_sequence = ledger->SequenceOf(item.epoch);
  if (applied.duplicate) return absl::OkStatus();

  Touched& session = touched[item.session_id];
  session.ledger = ledger;
  session.epochs.insert(item.epoch);
  for (const PlacedBlock& block : applied.blocks) session.lanes.insert(block.lane_id);
  for (size_t i = lanes_before; i < ledger->lanes().size(); ++i) {
    session.lanes.insert(ledger->lanes()[i].lane_id());
  }
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
    batch.Put(family(kIndex), key, entry.SerializeAsString()).PermitUncheckedError();
    batch.Put(family(kBlocks), key, bytes).PermitUncheckedError();
  }
}

void RocksStore::WriteDictionary(const AppendItem& item, const trace::DictionarySizes& before,
                                 rocksdb::WriteBatch& batch) {
  const DictionaryDelta& delta = item.request->dictionary();
  const std::string session_key = SessionKey(item.session_id);
  const auto put = [&](DictionaryTable table, uint64_t first, const DictionaryDelta& piece) {
    batch
        .Put(family(kDictionary), DictionaryKey(session_key, item.epoch, table, first),
             piece.SerializeAsString())
        .PermitUncheckedError();
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
    const SessionLedger& ledger = *session.ledger;
    batch.Put(family(kSessions), key, ledger.summary().SerializeAsString()).PermitUncheckedError();
    if (session.is_new) {
      batch.Put(family(kByTime), TimeKey(ledger.summary().created_unix_ns(), key), "")
          .PermitUncheckedError();
    }
    for (const uint64_t epoch : session.epochs) {
      batch.Put(family(kEpochs), EpochKey(key, epoch), EpochRecord(ledger.epochs().at(epoch)))
          .PermitUncheckedError();
    }
    for (const uint32_t lane : session.lanes) {
      batch.Put(family(kLanes), LaneKey(key, lane), ledger.lanes()[lane - 1].SerializeAsString())
          .PermitUncheckedError();
    }
  }
}

absl::Status RocksStore::Delete(const std::string& session_id) {
  const std::string key = SessionKey(session_id);
  ASSIGN_OR_RETURN(const std::unique_ptr<SessionLedger> ledger, LoadLedger(key));
  if (const auto cached = ledgers_.find(session_id); cached != ledgers_.end()) {
    recent_.erase(cached->second);
    ledgers_.erase(cached);
  }
  if (ledger == nullptr) return absl::OkStatus();
  const std::string end = PrefixEnd(key);
  rocksdb::WriteBatch batch;
  batch.Delete(family(kByTime), TimeKey(ledger->summary().created_unix_ns(), key))
      .PermitUncheckedError();
  for (const Family ranged : {kSessions, kEpochs, kLanes, kDictionary, kIndex, kBlocks}) {
    batch.DeleteRange(family(ranged), key, end).PermitUncheckedError();
  }
  rocksdb::WriteOptions synced;
  synced.sync = true;
  RETURN_IF_ERROR(FromRocks(db_->Write(synced, &batch), "deleting a session"));
  // The session is gone; what follows only gives its space back sooner than compaction would.
  const rocksdb::Slice from = ToSlice(key);
  const rocksdb::Slice to = ToSlice(end);
  for (const Family large : {kDictionary, kIndex, kBlocks}) {
    rocksdb::CompactRangeOptions compaction;
    compaction.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    const rocksdb::Status compacted = db_->CompactRange(compaction, family(large), &from, &to);
    if (!compacted.ok()) {
      base::LogWarning("store",
                       base::StrCat("giving back a session's space: ", compacted.ToString()));
    }
  }
  return absl::OkStatus();
}

}  // namespace nanolane::store
