// Following in the store in memory.
#include <set>
#include <utility>

#include "libs/base/status_macros.h"
#include "services/store/memory_store.h"

namespace nanolane::store {

// One request of the log, or the whole state, per message.
class MemoryStore::Follower final : public FollowReader {
 public:
  Follower(MemoryStore& store, std::string session_id, uint64_t cursor)
      : store_(store), session_id_(std::move(session_id)), cursor_(cursor) {}

  absl::StatusOr<bool> Next(v1::FollowResponse& message) override {
    message.Clear();
    base::MutexLock lock(store_.mutex_);
    ASSIGN_OR_RETURN(const Kept* kept, store_.Find(session_id_));
    const v1::SessionRecord& record = kept->ledger.record();
    const bool first = !std::exchange(greeted_, true);
    if (cursor_ == record.commits() && cursor_ > 0 && !first) return false;
    if (cursor_ == 0 || cursor_ < record.log_trimmed() || cursor_ > record.commits()) {
      AddState(*kept, message);
      cursor_ = record.commits();
    } else if (cursor_ < record.commits()) {
      ++cursor_;
      AddEntry(*kept, message);
    }
    *message.mutable_summary() = kept->ledger.summary();
    message.set_cursor(cursor_);
    message.set_caught_up(cursor_ == record.commits());
    return true;
  }

 private:
  static void AddState(const Kept& kept, v1::FollowResponse& message) {
    message.set_restart(true);
    for (const v1::StoredLane& lane : kept.ledger.lanes()) *message.add_lanes() = lane;
    for (const auto& [epoch, whole] : kept.dictionaries) {
      v1::EpochDictionary& to = *message.add_dictionaries();
      to.set_epoch(epoch);
      *to.mutable_delta() = whole;
      to.mutable_delta()->set_first_string(1);
      to.mutable_delta()->set_first_frame(1);
      to.mutable_delta()->set_first_stack(1);
      to.mutable_delta()->set_first_op(1);
    }
    for (const KeptBlock& block : kept.blocks) {
      if (block.current) *message.add_blocks() = block.block;
    }
  }

  void AddEntry(const Kept& kept, v1::FollowResponse& message) const {
    const v1::LogEntry& entry = kept.entries.at(cursor_);
    const auto request = kept.log.find(cursor_);
    if (entry.sealing() || request == kept.log.end()) return;
    if (request->second->has_dictionary()) {
      v1::EpochDictionary& to = *message.add_dictionaries();
      to.set_epoch(entry.epoch());
      *to.mutable_delta() = request->second->dictionary();
      to.mutable_delta()->clear_lanes();
    }
    std::set<uint32_t> lanes(entry.new_lanes().begin(), entry.new_lanes().end());
    for (const KeptBlock& block : kept.blocks) {
      if (block.key.epoch != entry.epoch() || block.key.sequence != entry.sequence()) continue;
      *message.add_blocks() = block.block;
      lanes.insert(block.key.lane_id);
    }
    for (const uint32_t lane : lanes) *message.add_lanes() = kept.ledger.lanes()[lane - 1];
  }

  MemoryStore& store_;
  const std::string session_id_;
  uint64_t cursor_;
  bool greeted_ = false;
};

absl::StatusOr<std::unique_ptr<FollowReader>> MemoryStore::Follow(
    const v1::FollowRequest& request) {
  base::MutexLock lock(mutex_);
  RETURN_IF_ERROR(Find(request.session_id()).status());
  return std::make_unique<Follower>(*this, request.session_id(), request.cursor());
}

}  // namespace nanolane::store
