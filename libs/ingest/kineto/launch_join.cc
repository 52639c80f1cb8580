#include "libs/ingest/kineto/launch_join.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/ingest/kineto/op_names.h"

namespace nanolane::ingest::kineto {
namespace {

using trace::EventKind;

// How much later than its device work a call may be stamped, where the file holds several
// processes.
constexpr int64_t kClockSkewNs = 1'000'000;

// A lane's votes decide where at least 9 of 10 are for one process.
constexpr uint64_t kVotesFor = 9;
constexpr uint64_t kVotesOf = 10;

// The process with the most, ties to the lowest index; kNoIndex where there is none.
std::pair<ProcessIndex, uint64_t> Most(const absl::flat_hash_map<ProcessIndex, uint64_t>& tally) {
  std::pair<ProcessIndex, uint64_t> most = {kNoIndex, 0};
  for (const auto& [process, count] : tally) {
    if (count > most.second || (count == most.second && process < most.first)) {
      most = {process, count};
    }
  }
  return most;
}

}  // namespace

void LaunchJoin::TakeCall(const CallRecord& call, int64_t record_start_ns) {
  const ProcessIndex process = contents_.threads[call.thread].process;
  const Candidate taken = {
      .process = process, .call = call, .before = call.start_ns <= record_start_ns};
  for (Candidate& known : group_) {
    if (known.process != process) continue;
    // Of nested calls with one id the outer one is the launch.
    const bool nested = known.call.thread == call.thread &&
                        call.start_ns < known.call.start_ns + known.call.duration_ns;
    if (taken.before && !nested) known = taken;
    return;
  }
  group_.push_back(taken);
}

template <typename Visit>
absl::Status LaunchJoin::ForEachRecord(Visit visit) {
  CallSorter::Reader calls(*contents_.calls);
  DeviceSorter::Reader records(*contents_.devices);
  uint64_t group_id = 0;
  group_.clear();
  for (; records.Peek() != nullptr; records.Pop()) {
    const DeviceRecord& record = *records.Peek();
    if (record.correlation != group_id) {
      group_id = record.correlation;
      group_.clear();
    }
    // Calls in front of the record; a later one only for a process that has none.
    while (calls.Peek() != nullptr && calls.Peek()->correlation <= group_id &&
           (calls.Peek()->correlation < group_id || calls.Peek()->start_ns <= record.start_ns ||
            group_.empty())) {
      if (calls.Peek()->correlation == group_id) TakeCall(*calls.Peek(), record.start_ns);
      calls.Pop();
    }
    candidates_.clear();
    if (group_id != 0) {
      for (Candidate& candidate : group_) {
        candidate.before = candidate.call.start_ns <= record.start_ns;
        candidates_.push_back(candidate);
      }
    }
    if (!OneProcess()) NarrowCandidates(record);
    visit(record);
  }
  RETURN_IF_ERROR(calls.status());
  return records.status();
}

template <typename Keep>
void LaunchJoin::NarrowTo(Keep keep) {
  if (std::none_of(candidates_.begin(), candidates_.end(), keep)) return;
  std::erase_if(candidates_, [&keep](const Candidate& candidate) { return !keep(candidate); });
}

void LaunchJoin::NarrowCandidates(const DeviceRecord& record) {
  std::erase_if(candidates_, [&record](const Candidate& candidate) {
    return candidate.call.start_ns > record.start_ns + kClockSkewNs;
  });
  NarrowTo([](const Candidate& candidate) { return candidate.before; });
  const EventKind kind = contents_.ops[record.op].kind;
  NarrowTo([this, kind](const Candidate& candidate) {
    return CanLaunch(contents_.names.Text(candidate.call.name), kind);
  });
  if (record.external_id != 0) {
    NarrowTo([&record](const Candidate& candidate) {
      return candidate.call.external_id == record.external_id;
    });
  }
}

void LaunchJoin::Vote(const DeviceRecord& record) {
  if (candidates_.size() != 1) return;
  ++votes_[places_[record.lane].front()][candidates_.front().process];
}

const LaunchJoin::Candidate* LaunchJoin::Choose(const DeviceRecord& record) const {
  if (candidates_.empty()) return nullptr;
  if (candidates_.size() == 1) return &candidates_.front();
  const Tally& votes = votes_[places_[record.lane].front()];
  uint64_t all = 0;
  for (const auto& [process, count] : votes) all += count;
  const auto [elected, count] = Most(votes);
  const Candidate* nearest = nullptr;
  for (const Candidate& candidate : candidates_) {
    if (candidate.process == elected && count * kVotesOf >= all * kVotesFor) return &candidate;
    if (nearest == nullptr || candidate.call.start_ns > nearest->call.start_ns) {
      nearest = &candidate;
    }
  }
  return nearest;
}

void LaunchJoin::CountLaunch(const DeviceRecord& record, ProcessIndex process) {
  if (contents_.ops[record.op].kind == EventKind::kSync) return;
  for (const uint32_t place : places_[record.lane]) ++launches_[place][process];
}

ProcessIndex LaunchJoin::OwnerWithoutLaunch(const DeviceRecord& record) const {
  for (const uint32_t place : places_[record.lane]) {
    if (!launches_[place].empty()) return Most(launches_[place]).first;
  }
  return fallback_;
}

void LaunchJoin::Emit(const DeviceRecord& record, const Candidate* launch) {
  JoinedRecord joined = {.device = record,
                         .process = kNoIndex,
                         .thread = kNoIndex,
                         .call = kNoIndex,
                         .call_name = 0,
                         .launch_start_ns = trace::kNoTime,
                         .launch_duration_ns = 0};
  if (launch != nullptr) {
    joined.process = launch->process;
    joined.thread = launch->call.thread;
    joined.call = launch->call.call;
    joined.call_name = launch->call.name;
    joined.launch_start_ns = launch->call.start_ns;
    joined.launch_duration_ns = launch->call.duration_ns;
    launching_[launch->call.call] = true;
  } else {
    joined.process = OneProcess() ? fallback_ : OwnerWithoutLaunch(record);
  }
  Process& process = contents_.processes[joined.process];
  ++process.device_records;
  if (contents_.ops[record.op].kind == EventKind::kSync) ++process.sync_records;
  joined_.Add(joined);
}

ProcessIndex LaunchJoin::ProcessWithoutCalls() {
  const auto weight = [](const Process& process) {
    return process.frames + process.annotations + process.memory_events;
  };
  if (contents_.processes.empty()) {
    const int64_t labelled = contents_.labelled_process;
    contents_.processes.push_back({.id = labelled == TraceContents::kNoId ? 0 : labelled});
  }
  const auto most =
      std::max_element(contents_.processes.begin(), contents_.processes.end(),
                       [&](const Process& a, const Process& b) { return weight(a) < weight(b); });
  return static_cast<ProcessIndex>(most - contents_.processes.begin());
}

absl::Status LaunchJoin::CountLonelyLaunches() {
  CallSorter::Reader calls(*contents_.calls);
  for (; calls.Peek() != nullptr; calls.Pop()) {
    const CallRecord& call = *calls.Peek();
    if (launching_[call.call] || !IsKernelLaunch(contents_.names.Text(call.name))) continue;
    ++contents_.processes[contents_.threads[call.thread].process].launches_without_kernel;
  }
  return calls.status();
}

void LaunchJoin::FindCallers() {
  uint64_t most_calls = 0;
  for (ProcessIndex i = 0; i < contents_.processes.size(); ++i) {
    const Process& process = contents_.processes[i];
    if (process.calls > 0) ++calling_processes_;
    if (process.calls > most_calls) {
      most_calls = process.calls;
      fallback_ = i;
    }
  }
  if (fallback_ == kNoIndex && contents_.devices->size() > 0) fallback_ = ProcessWithoutCalls();
}

void LaunchJoin::FindPlaces() {
  // The level keeps a stream of one place from being taken for a context of another.
  absl::flat_hash_map<std::tuple<size_t, int32_t, uint32_t, int64_t>, uint32_t> places;
  const auto place = [&places](size_t level, int32_t device, uint32_t context, int64_t stream) {
    return places
        .try_emplace({level, device, context, stream}, static_cast<uint32_t>(places.size()))
        .first->second;
  };
  for (const DeviceLane& lane : contents_.lanes) {
    places_.push_back({place(0, lane.device, lane.context, lane.stream),
                       place(1, lane.device, 0, lane.stream), place(2, lane.device, 0, 0)});
  }
  votes_.resize(places.size());
  launches_.resize(places.size());
}

absl::Status LaunchJoin::Run() {
  RETURN_IF_ERROR(contents_.calls->End());
  RETURN_IF_ERROR(contents_.devices->End());
  launching_.assign(contents_.call_count, false);
  FindCallers();
  if (!OneProcess()) {
    FindPlaces();
    RETURN_IF_ERROR(ForEachRecord([this](const DeviceRecord& record) { Vote(record); }));
    RETURN_IF_ERROR(ForEachRecord([this](const DeviceRecord& record) {
      if (const Candidate* launch = Choose(record)) CountLaunch(record, launch->process);
    }));
  }
  RETURN_IF_ERROR(
      ForEachRecord([this](const DeviceRecord& record) { Emit(record, Choose(record)); }));
  RETURN_IF_ERROR(CountLonelyLaunches());
  contents_.calls.reset();
  contents_.devices.reset();
  return joined_.End();
}

}  // namespace nanolane::ingest::kineto
