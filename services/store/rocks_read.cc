#include "services/store/rocks_read.h"

#include <algorithm>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/store/paging.h"
#include "services/store/rocks_status.h"

namespace nanolane::store {

absl::StatusOr<v1::SessionRecord> ReadRecord(RocksDb& db, const rocksdb::ReadOptions& options,
                                             const std::string& session_id) {
  v1::SessionRecord record;
  ASSIGN_OR_RETURN(const bool found,
                   db.Get(options, Family::kSessions, SessionKey(session_id), record));
  if (!found) return NoSuchSession(session_id);
  return record;
}

absl::StatusOr<std::vector<v1::StoredLane>> ReadLanes(RocksDb& db,
                                                      const rocksdb::ReadOptions& options,
                                                      const std::string& session_key) {
  std::vector<v1::StoredLane> lanes;
  RETURN_IF_ERROR(db.Visit(options, Family::kLanes, session_key,
                           [&](std::string_view, std::string_view value) -> absl::StatusOr<bool> {
                             if (!lanes.emplace_back().ParseFromArray(
                                     value.data(), static_cast<int>(value.size()))) {
                               return absl::DataLossError("a stored lane is not readable");
                             }
                             return true;
                           }));
  return lanes;
}

absl::Status ReadIndex(RocksDb& db, const rocksdb::ReadOptions& options,
                       const std::string& session_key, uint32_t lane_id,
                       const trace::v1::TimeRange* window, std::vector<IndexedBlock>& to) {
  const auto add = [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
    IndexedBlock entry{.key = ParseBlockKey(key), .block = {}};
    if (window != nullptr && entry.key.start_ns >= window->end_ns()) return false;
    if (!entry.block.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
      return absl::DataLossError("a stored index entry is not readable");
    }
    if (window != nullptr && entry.block.end_ns() < window->start_ns()) return true;
    entry.block.set_lane_id(lane_id);
    entry.block.set_start_ns(entry.key.start_ns);
    entry.block.set_epoch(entry.key.epoch);
    to.push_back(std::move(entry));
    return true;
  };
  return db.Visit(options, Family::kIndex, LaneKey(session_key, lane_id), add);
}

absl::Status ReadBlockData(RocksDb& db, const rocksdb::ReadOptions& options,
                           const std::string& session_key, const BlockKey& key, std::string& to) {
  rocksdb::ReadOptions once = options;
  once.fill_cache = false;
  if (!key.sealed()) {
    return FromRocks(
        db.db().Get(once, db.family(Family::kBlocks), BlockKeyBytes(session_key, key), &to),
        "reading a block");
  }
  const std::string sealed = SealedKeyBytes(session_key, {.run = key.run(),
                                                          .lane_id = key.lane_id,
                                                          .part = SealedPart::kBlock,
                                                          .row = 0,
                                                          .number = key.index});
  return FromRocks(db.db().Get(once, db.family(Family::kSealed), sealed, &to),
                   "reading a sealed block");
}

namespace {

// Consecutive entries of one dictionary table.
struct TableRange {
  DictionaryTable table = DictionaryTable::kStrings;
  uint64_t first = 1;
  uint64_t last = 0;  // inclusive; below `first`: nothing
};

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

// Sets `more` to false when the visitor wants no more.
absl::Status ReadTable(RocksDb& db, const rocksdb::ReadOptions& options, const std::string& prefix,
                       const TableRange& range, const Store::DictionaryVisitor& visit, bool& more) {
  if (range.last < range.first) return absl::OkStatus();
  rocksdb::ReadOptions ordered = options;  // a search backwards must see all keys
  ordered.prefix_same_as_start = false;
  ordered.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> at = db.Iterate(ordered, Family::kDictionary);
  // The piece that holds `first` starts at or before it.
  at->SeekForPrev(prefix + BigEndian(range.first));
  if (!at->Valid() || !at->key().starts_with(prefix)) at->Seek(prefix);
  for (; at->Valid() && at->key().starts_with(prefix); at->Next()) {
    DictionaryDelta piece;
    if (!piece.ParseFromArray(at->value().data(), static_cast<int>(at->value().size()))) {
      return absl::DataLossError("a stored dictionary piece is not readable");
    }
    const uint64_t piece_first = IdOfDictionaryKey(at->key().ToStringView());
    if (piece_first > range.last) break;
    TrimPiece(piece_first, range.first, range.last, piece);
    if (HasEntries(piece) && !visit(std::move(piece))) {
      more = false;
      return absl::OkStatus();
    }
  }
  return FromRocks(at->status(), "reading a dictionary");
}

absl::Status ReadSymbols(RocksDb& db, const rocksdb::ReadOptions& options,
                         const std::string& prefix, const DictionaryRange& range,
                         const Store::DictionaryVisitor& visit) {
  const auto read = [&](std::string_view, std::string_view value) -> absl::StatusOr<bool> {
    DictionaryDelta stored;
    if (!stored.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
      return absl::DataLossError("a stored dictionary piece is not readable");
    }
    DictionaryDelta wanted;
    for (trace::v1::Symbol& symbol : *stored.mutable_symbols()) {
      const bool in_range =
          symbol.frame() > range.have.frames && symbol.frame() <= range.need.frames;
      // A late symbol may name strings beyond what the reader asked for: it comes once they do.
      const bool readable = std::max(symbol.function(), symbol.file()) <= range.need.strings;
      if (in_range && readable) wanted.add_symbols()->Swap(&symbol);
    }
    return wanted.symbols_size() == 0 || visit(std::move(wanted));
  };
  return db.Visit(options, Family::kDictionary, prefix, read);
}

}  // namespace

absl::Status ReadDictionaryRange(RocksDb& db, const rocksdb::ReadOptions& options,
                                 const std::string& session_key, const DictionaryRange& range,
                                 const Store::DictionaryVisitor& visit) {
  const trace::DictionarySizes& have = range.have;
  const trace::DictionarySizes& need = range.need;
  const TableRange tables[] = {
      {DictionaryTable::kStrings, uint64_t{have.strings} + 1, need.strings},
      {DictionaryTable::kFrames, uint64_t{have.frames} + 1, need.frames},
      {DictionaryTable::kStacks, uint64_t{have.stacks} + 1, need.stacks},
      {DictionaryTable::kOps, uint64_t{have.ops} + 1, need.ops}};
  bool more = true;
  for (const TableRange& table : tables) {
    RETURN_IF_ERROR(ReadTable(db, options, DictionaryPrefix(session_key, range.epoch, table.table),
                              table, visit, more));
    if (!more) return absl::OkStatus();
  }
  return ReadSymbols(db, options,
                     DictionaryPrefix(session_key, range.epoch, DictionaryTable::kSymbols), range,
                     visit);
}

absl::Status ReadSymbolsOf(RocksDb& db, const rocksdb::ReadOptions& options,
                           const std::string& session_key, uint64_t epoch, uint64_t sequence,
                           DictionaryDelta& to) {
  DictionaryDelta stored;
  ASSIGN_OR_RETURN(
      const bool found,
      db.Get(options, Family::kDictionary,
             DictionaryKey(session_key, epoch, DictionaryTable::kSymbols, sequence), stored));
  if (found) to.mutable_symbols()->MergeFrom(stored.symbols());
  return absl::OkStatus();
}

}  // namespace nanolane::store
