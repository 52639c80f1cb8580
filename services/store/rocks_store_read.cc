// Reads of the RocksDB store. Each takes one snapshot.
#include <rocksdb/snapshot.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/trace/block_codec.h"
#include "services/store/keys.h"
#include "services/store/paging.h"
#include "services/store/rocks_status.h"
#include "services/store/rocks_store.h"

namespace nanolane::store {
namespace {

class Snapshot {
 public:
  explicit Snapshot(rocksdb::DB& db) : managed_(&db) { options_.snapshot = managed_.snapshot(); }
  const rocksdb::ReadOptions& options() const { return options_; }

 private:
  rocksdb::ManagedSnapshot managed_;
  rocksdb::ReadOptions options_;
};

// What the index says of a block, and where the block is.
struct Found {
  std::string key;
  v1::StoredBlock block;
};

}  // namespace

// Consecutive entries of one dictionary table.
struct RocksStore::TableRange {
  std::string session_key;
  uint64_t epoch = 0;
  DictionaryTable table = DictionaryTable::kStrings;
  uint64_t first = 1;
  uint64_t last = 0;  // inclusive; below `first`: nothing
};

absl::StatusOr<v1::ListSessionsResponse> RocksStore::ListSessions(
    const v1::ListSessionsRequest& request) {
  ASSIGN_OR_RETURN(const PageStart start, ParsePageToken(request.page_token()));
  const Snapshot snapshot(*db_);
  v1::ListSessionsResponse response;
  const std::unique_ptr<rocksdb::Iterator> at(
      db_->NewIterator(snapshot.options(), family(kByTime)));
  const std::string from = TimeKey(start.created_unix_ns, SessionKey(start.session_id));
  for (at->Seek(from); at->Valid(); at->Next()) {
    const std::string key(SessionKeyOfTimeKey(at->key().ToStringView()));
    std::string bytes;
    RETURN_IF_ERROR(FromRocks(db_->Get(snapshot.options(), family(kSessions), key, &bytes),
                              "reading a session"));
    SessionSummary summary;
    if (!summary.ParseFromString(bytes)) {
      return absl::DataLossError(
          base::StrCat("session ", SessionIdOf(key), " is not readable in the store"));
    }
    if (!Matches(summary, request)) continue;
    if (response.sessions_size() == PageSize(request.page_size())) {
      response.set_next_page_token(PageStart::Of(summary).Token());
      break;
    }
    *response.add_sessions() = std::move(summary);
  }
  RETURN_IF_ERROR(FromRocks(at->status(), "listing sessions"));
  return response;
}

absl::StatusOr<bool> RocksStore::HasSession(const std::string& session_key) {
  rocksdb::PinnableSlice bytes;
  const rocksdb::Status status = db_->Get({}, family(kSessions), session_key, &bytes);
  if (status.IsNotFound()) return false;
  RETURN_IF_ERROR(FromRocks(status, "reading a session"));
  return true;
}

absl::StatusOr<v1::GetSessionResponse> RocksStore::GetSession(const std::string& session_id) {
  const Snapshot snapshot(*db_);
  const std::string key = SessionKey(session_id);
  std::string bytes;
  const rocksdb::Status status = db_->Get(snapshot.options(), family(kSessions), key, &bytes);
  if (status.IsNotFound()) return NoSuchSession(session_id);
  RETURN_IF_ERROR(FromRocks(status, "reading a session"));
  v1::GetSessionResponse response;
  if (!response.mutable_summary()->ParseFromString(bytes)) {
    return absl::DataLossError(
        base::StrCat("session ", session_id, " is not readable in the store"));
  }
  const std::unique_ptr<rocksdb::Iterator> at(
      db_->NewIterator(snapshot.options(), family(kEpochs)));
  for (at->Seek(key); at->Valid() && at->key().starts_with(key); at->Next()) {
    response.add_epochs(EpochOf(at->key().ToStringView()));
  }
  RETURN_IF_ERROR(FromRocks(at->status(), "reading epochs"));
  return response;
}

absl::StatusOr<std::vector<v1::StoredLane>> RocksStore::ReadLanes(
    const std::string& session_key, const rocksdb::ReadOptions& options) {
  std::vector<v1::StoredLane> lanes;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options, family(kLanes)));
  for (at->Seek(session_key); at->Valid() && at->key().starts_with(session_key); at->Next()) {
    if (!lanes.emplace_back().ParseFromArray(at->value().data(),
                                             static_cast<int>(at->value().size()))) {
      return absl::DataLossError("a stored lane is not readable");
    }
  }
  RETURN_IF_ERROR(FromRocks(at->status(), "reading lanes"));
  return lanes;
}

absl::StatusOr<v1::ListLanesResponse> RocksStore::ListLanes(const std::string& session_id) {
  const std::string key = SessionKey(session_id);
  ASSIGN_OR_RETURN(const bool known, HasSession(key));
  if (!known) return NoSuchSession(session_id);
  const Snapshot snapshot(*db_);
  ASSIGN_OR_RETURN(const std::vector<v1::StoredLane> lanes, ReadLanes(key, snapshot.options()));
  v1::ListLanesResponse response;
  for (const v1::StoredLane& lane : lanes) *response.add_lanes() = lane;
  return response;
}

absl::Status RocksStore::ReadBlocks(const v1::ReadBlocksRequest& request,
                                    const BlockVisitor& visit) {
  const std::string session_key = SessionKey(request.session_id());
  ASSIGN_OR_RETURN(const bool known, HasSession(session_key));
  if (!known) return NoSuchSession(request.session_id());
  const Snapshot snapshot(*db_);
  std::vector<uint32_t> lanes(request.lane_ids().begin(), request.lane_ids().end());
  if (lanes.empty()) {
    ASSIGN_OR_RETURN(const std::vector<v1::StoredLane> all,
                     ReadLanes(session_key, snapshot.options()));
    for (const v1::StoredLane& lane : all) lanes.push_back(lane.lane_id());
  }
  // The index of a session is small (some 40 bytes a block): it is read whole and sorted, so that
  // lanes come by turns.
  std::vector<Found> found;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(snapshot.options(), family(kIndex)));
  for (const uint32_t lane : lanes) {
    const std::string prefix = LaneKey(session_key, lane);
    for (at->Seek(prefix); at->Valid() && at->key().starts_with(prefix); at->Next()) {
      const BlockKey key = ParseBlockKey(at->key().ToStringView());
      if (request.has_window() && key.start_ns >= request.window().end_ns()) break;
      Found entry{.key = at->key().ToString(), .block = {}};
      if (!entry.block.ParseFromArray(at->value().data(), static_cast<int>(at->value().size()))) {
        return absl::DataLossError("a stored index entry is not readable");
      }
      entry.block.set_lane_id(lane);
      entry.block.set_start_ns(key.start_ns);
      entry.block.set_epoch(key.epoch);
      if (Wants(request, entry.block)) found.push_back(std::move(entry));
    }
  }
  RETURN_IF_ERROR(FromRocks(at->status(), "reading the index"));
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::make_tuple(a.block.start_ns(), a.block.lane_id()) <
           std::make_tuple(b.block.start_ns(), b.block.lane_id());
  });
  rocksdb::ReadOptions once = snapshot.options();
  once.fill_cache = false;
  for (Found& entry : found) {
    if (request.with_data()) {
      RETURN_IF_ERROR(
          FromRocks(db_->Get(once, family(kBlocks), entry.key, entry.block.mutable_data()),
                    "reading a block"));
    }
    if (!visit(std::move(entry.block))) break;
  }
  return absl::OkStatus();
}

absl::Status RocksStore::ReadDictionary(const std::string& session_id, const DictionaryRange& range,
                                        const DictionaryVisitor& visit) {
  const std::string key = SessionKey(session_id);
  ASSIGN_OR_RETURN(const bool known, HasSession(key));
  if (!known) return NoSuchSession(session_id);
  const Snapshot snapshot(*db_);
  const auto table_range = [&](DictionaryTable table, uint64_t have, uint64_t need) {
    return TableRange{
        .session_key = key, .epoch = range.epoch, .table = table, .first = have + 1, .last = need};
  };
  const trace::DictionarySizes& have = range.have;
  const trace::DictionarySizes& need = range.need;
  const TableRange frames = table_range(DictionaryTable::kFrames, have.frames, need.frames);
  bool more = true;
  for (const TableRange& table :
       {table_range(DictionaryTable::kStrings, have.strings, need.strings), frames,
        table_range(DictionaryTable::kStacks, have.stacks, need.stacks),
        table_range(DictionaryTable::kOps, have.ops, need.ops)}) {
    RETURN_IF_ERROR(ReadTable(table, snapshot.options(), visit, more));
    if (!more) return absl::OkStatus();
  }
  return ReadSymbols(frames, need.strings, snapshot.options(), visit);
}

namespace {

// Drops entries of a piece that lie outside [first, last]; the piece starts at id `piece_first`.
template <typename Entries>
uint32_t Trim(uint64_t piece_first, uint64_t first, uint64_t last, Entries& entries) {
  const uint64_t end = piece_first + static_cast<uint64_t>(entries.size());  // exclusive
  if (end > last + 1) {
    const int surplus = static_cast<int>(
        std::min<uint64_t>(end - (last + 1), static_cast<uint64_t>(entries.size())));
    entries.DeleteSubrange(entries.size() - surplus, surplus);
  }
  if (first <= piece_first) return static_cast<uint32_t>(piece_first);
  const int skip = static_cast<int>(
      std::min<uint64_t>(first - piece_first, static_cast<uint64_t>(entries.size())));
  entries.DeleteSubrange(0, skip);
  return static_cast<uint32_t>(first);
}

void TrimPiece(uint64_t piece_first, uint64_t first, uint64_t last, DictionaryDelta& piece) {
  if (piece.strings_size() > 0) {
    piece.set_first_string(Trim(piece_first, first, last, *piece.mutable_strings()));
  } else if (piece.frames_size() > 0) {
    piece.set_first_frame(Trim(piece_first, first, last, *piece.mutable_frames()));
  } else if (piece.stacks_size() > 0) {
    piece.set_first_stack(Trim(piece_first, first, last, *piece.mutable_stacks()));
  } else if (piece.ops_size() > 0) {
    piece.set_first_op(Trim(piece_first, first, last, *piece.mutable_ops()));
  }
}

bool HasEntries(const DictionaryDelta& piece) {
  return piece.strings_size() + piece.frames_size() + piece.stacks_size() + piece.ops_size() > 0;
}

}  // namespace

absl::Status RocksStore::ReadTable(const TableRange& range, const rocksdb::ReadOptions& options,
                                   const DictionaryVisitor& visit, bool& more) {
  if (range.last < range.first) return absl::OkStatus();
  const uint64_t first = range.first;
  const std::string prefix = DictionaryPrefix(range.session_key, range.epoch, range.table);
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options, family(kDictionary)));
  // The piece that holds `first` starts at or before it.
  at->SeekForPrev(DictionaryKey(range.session_key, range.epoch, range.table, first));
  if (!at->Valid() || !at->key().starts_with(prefix)) at->Seek(prefix);
  for (; at->Valid() && at->key().starts_with(prefix); at->Next()) {
    DictionaryDelta piece;
    if (!piece.ParseFromArray(at->value().data(), static_cast<int>(at->value().size()))) {
      return absl::DataLossError("a stored dictionary piece is not readable");
    }
    const uint64_t piece_first = IdOfDictionaryKey(at->key().ToStringView());
    if (piece_first > range.last) break;
    TrimPiece(piece_first, first, range.last, piece);
    if (HasEntries(piece) && !visit(std::move(piece))) {
      more = false;
      return absl::OkStatus();
    }
  }
  return FromRocks(at->status(), "reading a dictionary");
}

absl::Status RocksStore::ReadSymbols(const TableRange& frames, uint32_t last_string,
                                     const rocksdb::ReadOptions& options,
                                     const DictionaryVisitor& visit) {
  const std::string prefix =
      DictionaryPrefix(frames.session_key, frames.epoch, DictionaryTable::kSymbols);
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options, family(kDictionary)));
  for (at->Seek(prefix); at->Valid() && at->key().starts_with(prefix); at->Next()) {
    DictionaryDelta stored;
    if (!stored.ParseFromArray(at->value().data(), static_cast<int>(at->value().size()))) {
      return absl::DataLossError("a stored dictionary piece is not readable");
    }
    DictionaryDelta wanted;
    for (trace::v1::Symbol& symbol : *stored.mutable_symbols()) {
      const bool in_range = symbol.frame() >= frames.first && symbol.frame() <= frames.last;
      // A late symbol may name strings beyond what the reader asked for: it comes once they do.
      const bool readable = std::max(symbol.function(), symbol.file()) <= last_string;
      if (in_range && readable) wanted.add_symbols()->Swap(&symbol);
    }
    if (wanted.symbols_size() > 0 && !visit(std::move(wanted))) return absl::OkStatus();
  }
  return FromRocks(at->status(), "reading symbols");
}

}  // namespace nanolane::store
