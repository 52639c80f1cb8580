// Follow: the state of a session, then its log, entry by entry.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "libs/base/status_macros.h"
#include "services/store/dictionary_sizes.h"
#include "services/store/keys.h"
#include "services/store/rocks_read.h"
#include "services/store/rocks_status.h"
#include "services/store/rocks_store.h"

namespace nanolane::store {
namespace {

constexpr size_t kMessageBytes = 512 << 10;
// Dictionary pieces are bounded by the appends that brought them.
constexpr int kMessagePieces = 64;

// The state of a session at one time, cut into messages.
class StateReader {
 public:
  StateReader(RocksDb& db, std::string session_id)
      : db_(db),
        session_id_(std::move(session_id)),
        session_key_(SessionKey(session_id_)),
        snapshot_(db.db()) {}

  absl::Status Open() {
    ASSIGN_OR_RETURN(record_, ReadRecord(db_, snapshot_.options(), session_id_));
    ASSIGN_OR_RETURN(lanes_, ReadLanes(db_, snapshot_.options(), session_key_));
    RETURN_IF_ERROR(db_.Visit(snapshot_.options(), Family::kEpochs, session_key_,
                              [&](std::string_view key, std::string_view) {
                                epochs_.push_back(EpochOf(key));
                                return true;
                              }));
    for (const v1::StoredLane& lane : lanes_) {
      RETURN_IF_ERROR(ReadIndex(db_, snapshot_.options(), session_key_, lane.lane_id(),
                                /*window=*/nullptr, blocks_));
    }
    std::stable_sort(blocks_.begin(), blocks_.end(),
                     [](const IndexedBlock& a, const IndexedBlock& b) {
                       return a.key.start_ns < b.key.start_ns;
                     });
    return absl::OkStatus();
  }

  uint64_t commits() const { return record_.commits(); }

  // Fills the next message; sets `last` with the last one.
  absl::Status Next(v1::FollowResponse& message, bool& last) {
    if (!begun_) {
      begun_ = true;
      message.set_restart(true);
      *message.mutable_summary() = record_.summary();
      for (const v1::StoredLane& lane : lanes_) *message.add_lanes() = lane;
    }
    if (next_epoch_ < epochs_.size()) {
      last = false;
      return AddDictionary(message);
    }
    size_t bytes = 0;
    for (; next_block_ < blocks_.size() && bytes < kMessageBytes; ++next_block_) {
      IndexedBlock& entry = blocks_[next_block_];
      RETURN_IF_ERROR(ReadBlockData(db_, snapshot_.options(), session_key_, entry.key,
                                    *entry.block.mutable_data()));
      bytes += entry.block.data().size();
      message.add_blocks()->Swap(&entry.block);
    }
    last = next_block_ == blocks_.size();
    return absl::OkStatus();
  }

 private:
  // As much of the current epoch's dictionary as fits into a message.
  absl::Status AddDictionary(v1::FollowResponse& message) {
    const uint64_t epoch = epochs_[next_epoch_];
    size_t bytes = 0;
    int pieces = 0;
    int seen = 0;
    bool more = false;
    RETURN_IF_ERROR(ReadDictionaryRange(db_, snapshot_.options(), session_key_, {.epoch = epoch},
                                        [&](DictionaryDelta delta) {
                                          if (seen++ < pieces_sent_) return true;
                                          if (bytes >= kMessageBytes || pieces == kMessagePieces) {
                                            more = true;
                                            return false;
                                          }
                                          bytes += delta.ByteSizeLong();
                                          ++pieces;
                                          v1::EpochDictionary& to = *message.add_dictionaries();
                                          to.set_epoch(epoch);
                                          to.mutable_delta()->Swap(&delta);
                                          return true;
                                        }));
    pieces_sent_ += pieces;
    if (!more) {
      ++next_epoch_;
      pieces_sent_ = 0;
    }
    return absl::OkStatus();
  }

  RocksDb& db_;
  const std::string session_id_;
  const std::string session_key_;
  const Snapshot snapshot_;
  v1::SessionRecord record_;
  std::vector<v1::StoredLane> lanes_;
  std::vector<uint64_t> epochs_;
  std::vector<IndexedBlock> blocks_;
  bool begun_ = false;
  size_t next_epoch_ = 0;
  int pieces_sent_ = 0;  // of the epoch that is being sent
  size_t next_block_ = 0;
};

class RocksFollowReader final : public FollowReader {
 public:
  RocksFollowReader(RocksDb& db, std::string session_id, uint64_t cursor)
      : db_(db),
        session_id_(std::move(session_id)),
        session_key_(SessionKey(session_id_)),
        cursor_(cursor) {}

  absl::Status Open() {
    if (cursor_ > 0) return ReadRecord(db_, {}, session_id_).status();
    return BeginState();
  }

  absl::StatusOr<bool> Next(v1::FollowResponse& message) override {
    message.Clear();
    if (state_ == nullptr) {
      ASSIGN_OR_RETURN(const bool more, NextFromLog(message));
      if (state_ == nullptr) return more;
      message.Clear();  // it has fallen behind: the state is sent anew
    }
    greeted_ = true;
    bool last = false;
    RETURN_IF_ERROR(state_->Next(message, last));
    if (last) {
      cursor_ = state_->commits();
      message.set_cursor(cursor_);
      state_ = nullptr;
      ASSIGN_OR_RETURN(const v1::SessionRecord now, ReadRecord(db_, {}, session_id_));
      message.set_caught_up(now.commits() == cursor_);
    }
    return true;
  }

 private:
  absl::Status BeginState() {
    state_ = std::make_unique<StateReader>(db_, session_id_);
    return state_->Open();
  }

  absl::StatusOr<bool> NextFromLog(v1::FollowResponse& message) {
    const Snapshot snapshot(db_.db());
    ASSIGN_OR_RETURN(const v1::SessionRecord record,
                     ReadRecord(db_, snapshot.options(), session_id_));
    if (cursor_ == record.commits()) {
      if (std::exchange(greeted_, true)) return false;
      *message.mutable_summary() = record.summary();
      message.set_cursor(cursor_);
      message.set_caught_up(true);
      return true;
    }
    greeted_ = true;
    // Behind what is kept, or of a session that was deleted and written anew.
    if (cursor_ < record.log_trimmed() || cursor_ > record.commits()) {
      RETURN_IF_ERROR(BeginState());
      return true;
    }
    size_t bytes = 0;
    std::set<uint32_t> lanes;
    while (cursor_ < record.commits() && bytes < kMessageBytes &&
           message.dictionaries_size() < kMessagePieces) {
      v1::LogEntry entry;
      ASSIGN_OR_RETURN(const bool found, db_.Get(snapshot.options(), Family::kLog,
                                                 LogKey(session_key_, cursor_ + 1), entry));
      if (!found) return absl::DataLossError("an entry is missing in a session's log");
      RETURN_IF_ERROR(AddEntry(entry, snapshot.options(), message, bytes));
      lanes.insert(entry.new_lanes().begin(), entry.new_lanes().end());
      for (const v1::LoggedBlock& block : entry.blocks()) lanes.insert(block.lane_id());
      ++cursor_;
    }
    for (const uint32_t lane : lanes) {
      ASSIGN_OR_RETURN(const bool found,
                       db_.Get(snapshot.options(), Family::kLanes, LaneKey(session_key_, lane),
                               *message.add_lanes()));
      if (!found) return absl::DataLossError("a lane of a session's log is missing");
    }
    *message.mutable_summary() = record.summary();
    message.set_cursor(cursor_);
    message.set_caught_up(cursor_ == record.commits());
    return true;
  }

  absl::Status AddEntry(const v1::LogEntry& entry, const rocksdb::ReadOptions& options,
                        v1::FollowResponse& message, size_t& bytes) {
    if (entry.sealing()) return absl::OkStatus();
    RETURN_IF_ERROR(AddDictionary(entry, options, message, bytes));
    for (int i = 0; i < entry.blocks_size(); ++i) {
      const BlockKey key = {.lane_id = entry.blocks(i).lane_id(),
                            .start_ns = entry.blocks(i).start_ns(),
                            .epoch = entry.epoch(),
                            .sequence = entry.sequence(),
                            .index = static_cast<uint32_t>(i)};
      v1::StoredBlock& block = *message.add_blocks();
      RETURN_IF_ERROR(ReadBlockData(db_, options, session_key_, key, *block.mutable_data()));
      ASSIGN_OR_RETURN(const trace::BlockHeader header, trace::ReadBlockHeader(block.data()));
      block.set_lane_id(key.lane_id);
      block.set_epoch(key.epoch);
      block.set_start_ns(header.first_ns);
      block.set_end_ns(header.last_ns);
      block.set_events(header.event_count);
      block.set_data_size(static_cast<uint32_t>(block.data().size()));
      bytes += block.data().size();
    }
    return absl::OkStatus();
  }

  absl::Status AddDictionary(const v1::LogEntry& entry, const rocksdb::ReadOptions& options,
                             v1::FollowResponse& message, size_t& bytes) {
    const trace::DictionarySizes before = FromProto(entry.dictionary_before());
    const trace::DictionarySizes after = FromProto(entry.dictionary_after());
    if (!(before == after)) {
      const DictionaryRange range = {.epoch = entry.epoch(), .have = before, .need = after};
      RETURN_IF_ERROR(
          ReadDictionaryRange(db_, options, session_key_, range, [&](DictionaryDelta delta) {
            delta.clear_symbols();  // those of the append come below, late ones with their own
            bytes += delta.ByteSizeLong();
            v1::EpochDictionary& to = *message.add_dictionaries();
            to.set_epoch(entry.epoch());
            to.mutable_delta()->Swap(&delta);
            return true;
          }));
    }
    if (!entry.symbols()) return absl::OkStatus();
    v1::EpochDictionary& to = *message.add_dictionaries();
    to.set_epoch(entry.epoch());
    RETURN_IF_ERROR(ReadSymbolsOf(db_, options, session_key_, entry.epoch(), entry.sequence(),
                                  *to.mutable_delta()));
    bytes += to.ByteSizeLong();
    return absl::OkStatus();
  }

  RocksDb& db_;
  const std::string session_id_;
  const std::string session_key_;
  uint64_t cursor_;
  std::unique_ptr<StateReader> state_;  // while the state is being sent
  bool greeted_ = false;                // a follower that has everything is told so once
};

}  // namespace

absl::StatusOr<std::unique_ptr<FollowReader>> RocksStore::Follow(const v1::FollowRequest& request) {
  auto reader = std::make_unique<RocksFollowReader>(*db_, request.session_id(), request.cursor());
  RETURN_IF_ERROR(reader->Open());
  return reader;
}

}  // namespace nanolane::store
