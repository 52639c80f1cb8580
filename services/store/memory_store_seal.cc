// Sealing in the store in memory.
#include <algorithm>
#include <utility>

#include "libs/base/status_macros.h"
#include "services/store/memory_store.h"
#include "services/store/seal_lane.h"
#include "services/store/tile_answer.h"

namespace nanolane::store {

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
