#include "services/store/session_ledger.h"

#include <algorithm>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/trace/wire.h"

namespace nanolane::store {
namespace {

// Equal lanes serialize to equal bytes: the message has only scalar fields and strings.
std::string LaneKey(const trace::v1::Lane& lane) { return lane.SerializeAsString(); }

void WidenTo(int64_t start_ns, int64_t end_ns, bool first, auto& extent) {
  extent.set_start_ns(first ? start_ns : std::min<int64_t>(extent.start_ns(), start_ns));
  extent.set_end_ns(first ? end_ns : std::max<int64_t>(extent.end_ns(), end_ns));
}

void AddKind(trace::v1::EventKind kind, uint64_t count, trace::v1::SessionSummary& summary) {
  for (trace::v1::KindCount& known : *summary.mutable_by_kind()) {
    if (known.kind() == kind) {
      known.set_count(known.count() + count);
      return;
    }
  }
  trace::v1::KindCount& added = *summary.add_by_kind();
  added.set_kind(kind);
  added.set_count(count);
}

}  // namespace

SessionLedger::SessionLedger(const trace::v1::Session& session, int64_t created_unix_ns) {
  *summary_.mutable_session() = session;
  if (session.project().empty()) summary_.mutable_session()->set_project("default");
  summary_.set_created_unix_ns(created_unix_ns);
}

SessionLedger::SessionLedger(trace::v1::SessionSummary summary,
                             std::map<uint64_t, EpochState> epochs,
                             std::vector<v1::StoredLane> lanes)
    : summary_(std::move(summary)), epochs_(std::move(epochs)), lanes_(std::move(lanes)) {
  for (const v1::StoredLane& lane : lanes_) lane_ids_[LaneKey(lane.lane())] = lane.lane_id();
}

uint64_t SessionLedger::SequenceOf(uint64_t epoch) const {
  const auto found = epochs_.find(epoch);
  return found == epochs_.end() ? 0 : found->second.sequence;
}

absl::StatusOr<std::vector<PlacedBlock>> SessionLedger::CheckBlocks(
    const EpochState& epoch, const v1::AppendRequest& request) const {
  std::vector<PlacedBlock> placed;
  for (int i = 0; i < request.blocks_size(); ++i) {
    const auto header = trace::ReadBlockHeader(request.blocks(i));
    if (!header.ok()) {
      return absl::InvalidArgumentError(base::StrCat("block ", i, ": ", header.status().message()));
    }
    if (!epoch.dictionary.Cover(header->needs)) {
      return absl::FailedPreconditionError(
          base::StrCat("block ", i, " needs dictionary entries that were not sent: up to string ",
                       header->needs.strings, ", frame ", header->needs.frames, ", stack ",
                       header->needs.stacks, ", op ", header->needs.ops));
    }
    const auto lane = epoch.lanes.find(header->lane);
    if (lane == epoch.lanes.end()) {
      return absl::FailedPreconditionError(
          base::StrCat("block ", i, " is of lane ", header->lane, ", which was not sent"));
    }
    placed.push_back({.lane_id = lane->second, .header = *header, .index = i});
  }
  return placed;
}

absl::StatusOr<Applied> SessionLedger::Apply(uint64_t epoch_id, const v1::AppendRequest& request) {
  Applied applied;
  if (request.sequence() != 0) {
    const uint64_t last = SequenceOf(epoch_id);
    if (request.sequence() <= last) {
      applied.duplicate = true;
      return applied;
    }
    if (request.sequence() != last + 1) {
      return absl::FailedPreconditionError(base::StrCat("sequence ", request.sequence(),
                                                        " follows ", last, " in epoch ", epoch_id,
                                                        "; send ", last + 1, " first"));
    }
  } else if (request.has_dictionary() || request.blocks_size() > 0) {
    return absl::InvalidArgumentError("a message with data needs a sequence from 1 on");
  }

  // A copy takes the changes, so that an error leaves the epoch as it was.
  EpochState epoch = epochs_.contains(epoch_id) ? epochs_.at(epoch_id) : EpochState();
  epoch.sequence = std::max(epoch.sequence, request.sequence());
  applied.dictionary_before = epoch.dictionary;
  ASSIGN_OR_RETURN(epoch.dictionary,
                   trace::CheckDelta(trace::FromProto(request.dictionary()), epoch.dictionary));
  std::vector<std::pair<trace::LaneId, const trace::v1::Lane*>> new_lanes;
  for (const trace::v1::LaneEntry& entry : request.dictionary().lanes()) {
    const auto known = epoch.lanes.find(entry.id());
    if (known == epoch.lanes.end()) {
      new_lanes.emplace_back(entry.id(), &entry.lane());
      epoch.lanes[entry.id()] = 0;  // gets its id once everything is checked
    } else if (known->second != 0 &&
               LaneKey(lanes_[known->second - 1].lane()) != LaneKey(entry.lane())) {
      return absl::InvalidArgumentError(base::StrCat("lane ", entry.id(), " changes its meaning"));
    }
  }
  ASSIGN_OR_RETURN(applied.blocks, CheckBlocks(epoch, request));

  for (const auto& [id, lane] : new_lanes) epoch.lanes[id] = InternLane(*lane);
  for (PlacedBlock& block : applied.blocks) block.lane_id = epoch.lanes[block.header.lane];
  epochs_[epoch_id] = std::move(epoch);
  if (request.has_session()) {
    const std::string project = summary_.session().project();
    *summary_.mutable_session() = request.session();
    if (request.session().project().empty()) summary_.mutable_session()->set_project(project);
  }
  Count(request, applied.blocks);
  return applied;
}

uint32_t SessionLedger::InternLane(const trace::v1::Lane& lane) {
  const auto [at, added] =
      lane_ids_.try_emplace(LaneKey(lane), static_cast<uint32_t>(lanes_.size() + 1));
  if (added) {
    v1::StoredLane& stored = lanes_.emplace_back();
    stored.set_lane_id(at->second);
    *stored.mutable_lane() = lane;
  }
  return at->second;
}

void SessionLedger::Count(const v1::AppendRequest& request,
                          const std::vector<PlacedBlock>& blocks) {
  for (const PlacedBlock& block : blocks) {
    const trace::BlockHeader& header = block.header;
    v1::StoredLane& lane = lanes_[block.lane_id - 1];
    WidenTo(header.first_ns, header.last_ns, lane.blocks() == 0, lane);
    lane.set_events(lane.events() + header.event_count);
    lane.set_blocks(lane.blocks() + 1);
    WidenTo(header.first_ns, header.last_ns, summary_.events() == 0, summary_);
    summary_.set_events(summary_.events() + header.event_count);
    summary_.set_stored_bytes(summary_.stored_bytes() + request.blocks(block.index).size());
  }
  for (const trace::v1::KindCount& count : request.by_kind()) {
    AddKind(count.kind(), count.count(), summary_);
  }
}

}  // namespace nanolane::store
