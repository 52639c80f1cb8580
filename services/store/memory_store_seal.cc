// What the store in memory does beyond appends and reads: following, density, tiles, seals. Plain
// loops over everything, for the contract suite to hold the RocksDB store against.
#include <algorithm>
#include <set>
#include <utility>

#include "libs/base/status_macros.h"
#include "services/store/density_rows.h"
#include "services/store/memory_store.h"
#include "services/store/paging.h"
#include "services/store/seal_lane.h"
#include "services/store/tile_answer.h"

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

absl::StatusOr<v1::GetDensityResponse> MemoryStore::GetDensity(
    const v1::GetDensityRequest& request) {
  ASSIGN_OR_RETURN(DensityAnswer answer, DensityAnswer::Create(request));
  base::MutexLock lock(mutex_);
  std::vector<const SessionLedger*> ledgers;
  for (const std::string& id : request.session_ids()) {
    RETURN_IF_ERROR(CheckSessionId(id));
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) continue;
    ledgers.push_back(&found->second.ledger);
    ExpectExtent(found->second.ledger.record(), answer);
  }
  for (const SessionLedger* ledger : ledgers) {
    answer.Add(ledger->density().level(0), ledger->density().bins(0));
  }
  return answer.Finish();
}

absl::StatusOr<v1::GetTilesResponse> MemoryStore::GetTiles(const v1::GetTilesRequest& request,
                                                           const std::function<bool()>& /*stop*/) {
  RETURN_IF_ERROR(CheckTilesRequest(request));
  base::MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const Kept* kept, Find(request.session_id()));
  RETURN_IF_ERROR(CheckTilesSize(request, kept->ledger.lanes().size()));
  TileAnswer answer;
  for (const auto& [epoch, whole] : kept->dictionaries) answer.AddEpoch(epoch, LabelsOf(whole));
  LaneAnswer lanes(request, answer);
  for (const uint32_t lane_id : LanesToAnswer(request, kept->ledger.lanes().size())) {
    lanes.Begin(kept->ledger.lanes()[lane_id - 1]);
    for (const KeptBlock& block : kept->blocks) {
      if (!block.current || block.key.lane_id != lane_id) continue;
      RETURN_IF_ERROR(lanes.AddBlock(block.key.epoch, block.block.data()));
    }
    ASSIGN_OR_RETURN(const LaneColumns columns, lanes.Finish());
    answer.Add(columns);
  }
  return answer.Take();
}

absl::StatusOr<std::vector<std::string>> MemoryStore::SessionsToTend() {
  base::MutexLock lock(mutex_);
  std::vector<std::string> ids;
  for (const auto& [id, kept] : sessions_) ids.push_back(id);
  return ids;
}

class MemoryStore::Seal final : public PreparedSeal {
 public:
  std::string session_id;
  int64_t created_unix_ns = 0;
  std::vector<BlockKey> taken;
  std::vector<KeptBlock> made;
  SealedRun run;
};

absl::StatusOr<std::unique_ptr<PreparedSeal>> MemoryStore::PrepareSeal(
    const std::string& session_id) {
  base::MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const Kept* kept, Find(session_id));
  std::vector<RawLane> lanes;
  for (const v1::StoredLane& lane : kept->ledger.lanes()) {
    RawLane& raw = lanes.emplace_back();
    raw.lane_id = lane.lane_id();
    for (const KeptBlock& block : kept->blocks) {
      if (!block.current || block.key.sealed() || block.key.lane_id != raw.lane_id) continue;
      raw.blocks.push_back({.key = block.key,
                            .end_ns = block.block.end_ns(),
                            .events = block.block.events(),
                            .bytes = block.block.data_size()});
    }
    std::stable_sort(
        raw.blocks.begin(), raw.blocks.end(),
        [](const RawBlock& a, const RawBlock& b) { return a.key.start_ns < b.key.start_ns; });
  }
  const bool ended = kept->ledger.summary().session().ended();
  auto seal = std::make_unique<Seal>();
  seal->session_id = session_id;
  seal->created_unix_ns = kept->ledger.summary().created_unix_ns();
  for (const RawLane& lane : PickForRun(std::move(lanes), ended, seal_)) {
    std::vector<RawBytes> bytes;
    uint64_t events = 0;
    for (const RawBlock& raw : lane.blocks) {
      const auto block = std::find_if(kept->blocks.begin(), kept->blocks.end(), [&](const auto& b) {
        return BlockKeyBytes("", b.key) == BlockKeyBytes("", raw.key);
      });
      bytes.push_back({raw.key.epoch, raw.key.sequence, raw.key.index, block->block.data()});
      seal->taken.push_back(raw.key);
      events += raw.events;
      seal->run.bytes_taken += raw.bytes;
    }
    ASSIGN_OR_RETURN(
        LaidOutLane laid_out,
        LayOutLane(std::move(bytes), WriterLanes(kept->ledger.epochs(), lane.lane_id),
                   IsMemory(kept->ledger.lanes()[lane.lane_id - 1]), seal_.block_events));
    seal->run.events += events;
    seal->run.lanes.push_back({.lane_id = lane.lane_id,
                               .events = events,
                               .blocks_taken = lane.blocks.size(),
                               .blocks_made = laid_out.blocks.size()});
    uint32_t number = 0;
    for (SealedBlock& block : laid_out.blocks) {
      KeptBlock& to = seal->made.emplace_back();
      to.key = {.lane_id = lane.lane_id,
                .start_ns = block.header.first_ns,
                .epoch = block.epoch,
                .sequence = kSealedBit | kept->ledger.record().next_run(),
                .index = number++};
      seal->run.bytes_made += block.data.size();
      to.block.set_lane_id(lane.lane_id);
      to.block.set_epoch(block.epoch);
      to.block.set_events(block.header.event_count);
      to.block.set_start_ns(block.header.first_ns);
      to.block.set_end_ns(block.header.last_ns);
      to.block.set_data_size(static_cast<uint32_t>(block.data.size()));
      to.block.set_data(std::move(block.data));
    }
  }
  if (seal->taken.empty()) return nullptr;
  return seal;
}

absl::Status MemoryStore::PublishSeal(PreparedSeal& prepared) {
  auto& seal = static_cast<Seal&>(prepared);
  base::MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(Kept * kept, Find(seal.session_id));
  if (kept->ledger.summary().created_unix_ns() != seal.created_unix_ns) {
    return absl::FailedPreconditionError("the session has changed while it was sealed");
  }
  for (const BlockKey& key : seal.taken) {
    for (KeptBlock& block : kept->blocks) {
      if (BlockKeyBytes("", block.key) == BlockKeyBytes("", key)) block.current = false;
    }
  }
  kept->blocks.insert(kept->blocks.end(), std::make_move_iterator(seal.made.begin()),
                      std::make_move_iterator(seal.made.end()));
  const v1::LogEntry entry = kept->ledger.ApplySeal(seal.run, clock_.UnixNanos());
  kept->entries[kept->ledger.commits()] = entry;
  return absl::OkStatus();
}

absl::StatusOr<LogLeft> MemoryStore::TrimLog(const std::string& session_id) {
  base::MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(Kept * kept, Find(session_id));
  uint64_t trimmed = kept->ledger.record().log_trimmed();
  for (const auto& [number, entry] : kept->entries) {
    if (entry.unix_ns() > clock_.UnixNanos() - seal_.keep_log_ns) break;
    const bool unsealed =
        std::any_of(kept->blocks.begin(), kept->blocks.end(), [&](const KeptBlock& block) {
          return block.current && block.key.epoch == entry.epoch() &&
                 block.key.sequence == entry.sequence();
        });
    if (unsealed && !entry.sealing()) break;
    trimmed = number;
  }
  kept->entries.erase(kept->entries.begin(), kept->entries.upper_bound(trimmed));
  kept->log.erase(kept->log.begin(), kept->log.upper_bound(trimmed));
  kept->ledger.TrimLog(trimmed);
  return trimmed < kept->ledger.commits() ? LogLeft::kYoung : LogLeft::kNothing;
}

}  // namespace nanolane::store
