#include "services/store/session_ledger.h"

#include <algorithm>
#include <array>
#include <limits>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/trace/wire.h"
#include "services/store/dictionary_sizes.h"

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

// Of a message that is not to be counted twice when it is sent twice.
bool HasData(const v1::AppendRequest& request) {
  return request.has_dictionary() || request.blocks_size() > 0 || request.losses_size() > 0;
}

int64_t Shifted(int64_t time_ns, int64_t offset_ns) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(time_ns, offset_ns, &sum)) return sum;
  return offset_ns > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

}  // namespace

SessionLedger::SessionLedger(const trace::v1::Session& session, int64_t created_unix_ns) {
  trace::v1::SessionSummary& summary = mutable_summary();
  *summary.mutable_session() = session;
  if (session.project().empty()) summary.mutable_session()->set_project("default");
  summary.set_created_unix_ns(created_unix_ns);
  // Numbers of commits begin where no session of the same id, deleted before, had any: a cursor of
  // such a one is out of range here.
  const auto first_commit = static_cast<uint64_t>(std::max<int64_t>(created_unix_ns, 0));
  state_.record.set_commits(first_commit);
  state_.record.set_log_trimmed(first_commit);
  const auto& clock = session.clock();
  state_.record.set_density_offset_ns(clock.unix_offset_known() ? clock.unix_offset_ns() : 0);
  state_.record.set_density_level(static_cast<uint32_t>(state_.density.finest_level()));
}

SessionLedger::SessionLedger(LedgerState state) : state_(std::move(state)) {
  for (const v1::StoredLane& lane : state_.lanes) lane_ids_[LaneKey(lane.lane())] = lane.lane_id();
}

uint64_t SessionLedger::SequenceOf(uint64_t epoch) const {
  const auto found = state_.epochs.find(epoch);
  return found == state_.epochs.end() ? 0 : found->second.sequence;
}

absl::StatusOr<SessionLedger::CheckedBlocks> SessionLedger::CheckBlocks(
    const EpochState& epoch, const v1::AppendRequest& request) const {
  CheckedBlocks checked;
  for (int i = 0; i < request.blocks_size(); ++i) {
    const auto malformed = [i](const absl::Status& why) {
      return absl::InvalidArgumentError(base::StrCat("block ", i, ": ", why.message()));
    };
    const auto header = trace::ReadBlockHeader(request.blocks(i));
    if (!header.ok()) return malformed(header.status());
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
    trace::EventColumns events;
    const absl::Status decoded =
        trace::DecodeBlock(request.blocks(i), trace::ColumnSet::Timeline(), events);
    if (!decoded.ok()) return malformed(decoded);
    if (*std::max_element(events.op.begin(), events.op.end()) > header->needs.ops) {
      return absl::InvalidArgumentError(
          base::StrCat("block ", i, " has ops beyond those that its header names"));
    }
    checked.placed.push_back({.lane_id = lane->second, .header = *header, .index = i});
    checked.events.push_back(std::move(events));
  }
  return checked;
}

absl::StatusOr<Applied> SessionLedger::Apply(uint64_t epoch_id, const v1::AppendRequest& request,
                                             int64_t unix_ns) {
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
  } else if (HasData(request)) {
    return absl::InvalidArgumentError("a message with data needs a sequence from 1 on");
  }

  // A copy takes the changes, so that an error leaves the epoch as it was.
  EpochState epoch = state_.epochs.contains(epoch_id) ? state_.epochs.at(epoch_id) : EpochState();
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
               LaneKey(state_.lanes[known->second - 1].lane()) != LaneKey(entry.lane())) {
      return absl::InvalidArgumentError(base::StrCat("lane ", entry.id(), " changes its meaning"));
    }
  }
  ASSIGN_OR_RETURN(CheckedBlocks blocks, CheckBlocks(epoch, request));

  const size_t lanes_before = state_.lanes.size();
  for (const auto& [id, lane] : new_lanes) epoch.lanes[id] = InternLane(*lane);
  for (PlacedBlock& block : blocks.placed) block.lane_id = epoch.lanes[block.header.lane];
  state_.epochs[epoch_id] = std::move(epoch);
  AddOpKinds(epoch_id, request);
  if (request.has_session()) {
    const std::string project = summary().session().project();
    *mutable_summary().mutable_session() = request.session();
    if (request.session().project().empty()) {
      mutable_summary().mutable_session()->set_project(project);
    }
  }
  mutable_summary().set_changed_unix_ns(unix_ns);
  Count(request, blocks.placed);
  CountKinds(epoch_id, blocks);
  CountLosses(request);
  applied.blocks = std::move(blocks.placed);
  Log(epoch_id, request, lanes_before, unix_ns, applied);
  return applied;
}

uint32_t SessionLedger::InternLane(const trace::v1::Lane& lane) {
  const auto [at, added] =
      lane_ids_.try_emplace(LaneKey(lane), static_cast<uint32_t>(state_.lanes.size() + 1));
  if (added) {
    v1::StoredLane& stored = state_.lanes.emplace_back();
    stored.set_lane_id(at->second);
    *stored.mutable_lane() = lane;
  }
  return at->second;
}

void SessionLedger::AddOpKinds(uint64_t epoch, const v1::AppendRequest& request) {
  OpKinds& kinds = state_.op_kinds[epoch];
  if (kinds.empty()) kinds.push_back(trace::EventKind::kUnspecified);
  const trace::v1::DictionaryDelta& delta = request.dictionary();
  for (int i = 0; i < delta.ops_size(); ++i) {
    if (delta.first_op() + static_cast<uint32_t>(i) < kinds.size()) continue;  // sent again
    kinds.push_back(trace::FromProto(delta.ops(i).kind()));
  }
}

void SessionLedger::Count(const v1::AppendRequest& request,
                          const std::vector<PlacedBlock>& blocks) {
  trace::v1::SessionSummary& total = mutable_summary();
  for (const PlacedBlock& block : blocks) {
    const trace::BlockHeader& header = block.header;
    v1::StoredLane& lane = state_.lanes[block.lane_id - 1];
    WidenTo(header.first_ns, header.last_ns, lane.blocks() == 0, lane);
    lane.set_events(lane.events() + header.event_count);
    lane.set_blocks(lane.blocks() + 1);
    lane.set_unsealed_events(lane.unsealed_events() + header.event_count);
    WidenTo(header.first_ns, header.last_ns, total.events() == 0, total);
    total.set_events(total.events() + header.event_count);
    total.set_unsealed_events(total.unsealed_events() + header.event_count);
    total.set_stored_bytes(total.stored_bytes() + request.blocks(block.index).size());
  }
}

// Kinds and density are counted from the events themselves: what a writer says of them is not
// needed.
void SessionLedger::CountKinds(uint64_t epoch, const CheckedBlocks& blocks) {
  const OpKinds& kind_of = state_.op_kinds[epoch];
  const int64_t offset_ns = state_.record.density_offset_ns();
  std::array<uint64_t, trace::kEventKindCount> counts = {};
  std::vector<trace::EventKind> kinds;
  std::vector<int64_t> unix_ns;
  for (const trace::EventColumns& events : blocks.events) {
    kinds.clear();
    unix_ns.clear();
    for (size_t i = 0; i < events.size(); ++i) {
      kinds.push_back(kind_of[events.op[i]]);
      unix_ns.push_back(Shifted(events.start_ns[i], offset_ns));
      ++counts[static_cast<size_t>(kinds.back())];
    }
    state_.density.Add(unix_ns, events.duration_ns, kinds);
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    AddKind(trace::ToProto(static_cast<trace::EventKind>(i)), counts[i], mutable_summary());
  }
  state_.record.set_density_level(static_cast<uint32_t>(state_.density.finest_level()));
}

void SessionLedger::CountLosses(const v1::AppendRequest& request) {
  for (const trace::v1::TimedLoss& loss : request.losses()) {
    state_.density.AddLosses(Shifted(loss.session_ns(), state_.record.density_offset_ns()),
                             loss.count());
  }
  state_.record.set_density_level(static_cast<uint32_t>(state_.density.finest_level()));
}

void SessionLedger::Log(uint64_t epoch, const v1::AppendRequest& request, size_t lanes_before,
                        int64_t unix_ns, Applied& applied) {
  state_.record.set_commits(commits() + 1);
  v1::LogEntry& entry = applied.log;
  entry.set_unix_ns(unix_ns);
  entry.set_epoch(epoch);
  entry.set_sequence(request.sequence());
  for (const PlacedBlock& block : applied.blocks) {
    v1::LoggedBlock& logged = *entry.add_blocks();
    logged.set_lane_id(block.lane_id);
    logged.set_start_ns(block.header.first_ns);
    logged.set_bytes(static_cast<uint32_t>(request.blocks(block.index).size()));
  }
  ToProto(applied.dictionary_before, *entry.mutable_dictionary_before());
  ToProto(state_.epochs[epoch].dictionary, *entry.mutable_dictionary_after());
  entry.set_symbols(request.dictionary().symbols_size() > 0);
  for (size_t i = lanes_before; i < state_.lanes.size(); ++i) {
    entry.add_new_lanes(state_.lanes[i].lane_id());
  }
}

v1::LogEntry SessionLedger::ApplySeal(const SealedRun& run, int64_t unix_ns) {
  for (const SealedLane& sealed : run.lanes) {
    v1::StoredLane& lane = state_.lanes[sealed.lane_id - 1];
    lane.set_blocks(lane.blocks() - sealed.blocks_taken + sealed.blocks_made);
    lane.set_unsealed_events(lane.unsealed_events() - sealed.events);
  }
  trace::v1::SessionSummary& total = mutable_summary();
  total.set_unsealed_events(total.unsealed_events() - run.events);
  total.set_stored_bytes(total.stored_bytes() - run.bytes_taken + run.bytes_made);
  total.set_index_bytes(total.index_bytes() + run.index_bytes);
  state_.record.set_next_run(state_.record.next_run() + 1);
  state_.record.set_commits(commits() + 1);
  v1::LogEntry entry;
  entry.set_unix_ns(unix_ns);
  entry.set_sealing(true);
  return entry;
}

}  // namespace nanolane::store
