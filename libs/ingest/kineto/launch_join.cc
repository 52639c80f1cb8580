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

template <typename Visit>
absl::Status LaunchJoin::ForEachId(LaunchMatch& match, Visit visit) {
  CallSorter::Reader calls(*contents_.calls);
  DeviceSorter::Reader records(*contents_.devices);
  while (records.Peek() != nullptr) {
    const uint64_t id = records.Peek()->correlation;
    match.Clear();
    for (; calls.Peek() != nullptr && calls.Peek()->correlation <= id; calls.Pop()) {
      if (calls.Peek()->correlation == id) match.AddCall(*calls.Peek());
    }
    for (; records.Peek() != nullptr && records.Peek()->correlation == id; records.Pop()) {
      match.AddRecord(*records.Peek());
      if (match.size() == LaunchMatch::kMaxRecords) {
        visit();
        match.ClearRecords();
      }
    }
    if (match.size() > 0) visit();
  }
  RETURN_IF_ERROR(calls.status());
  return records.status();
}

ProcessIndex LaunchJoin::OwnerOfStream(const DeviceRecord& record) const {
  const Tally& votes = votes_[places_[record.lane].front()];
  uint64_t all = 0;
  for (const auto& [process, count] : votes) all += count;
  const auto [elected, count] = Most(votes);
  return count * kVotesOf >= all * kVotesFor ? elected : kNoIndex;
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

void LaunchJoin::Emit(const DeviceRecord& record, const CallRecord* launch) {
  JoinedRecord joined = {.device = record,
                         .process = kNoIndex,
                         .thread = kNoIndex,
                         .call = kNoIndex,
                         .call_name = 0,
                         .launch_start_ns = trace::kNoTime,
                         .launch_duration_ns = 0};
  if (launch != nullptr) {
    joined.process = contents_.threads[launch->thread].process;
    joined.thread = launch->thread;
    joined.call = launch->call;
    joined.call_name = launch->name;
    joined.launch_start_ns = launch->start_ns;
    joined.launch_duration_ns = launch->duration_ns;
    launching_[launch->call] = true;
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
  LaunchMatch match(contents_, !OneProcess());
  const auto owner = [this](const DeviceRecord& record) { return OwnerOfStream(record); };
  if (!OneProcess()) {
    FindPlaces();
    RETURN_IF_ERROR(ForEachId(match, [&] {
      match.Settle();
      for (size_t i = 0; i < match.size(); ++i) {
        const CallRecord* launch = match.LaunchOf(i);
        if (launch == nullptr) continue;
        ++votes_[places_[match.Record(i).lane].front()][match.ProcessOf(*launch)];
      }
    }));
    RETURN_IF_ERROR(ForEachId(match, [&] {
      match.Settle();
      match.Decide(owner);
      for (size_t i = 0; i < match.size(); ++i) {
        const CallRecord* launch = match.LaunchOf(i);
        if (launch != nullptr) CountLaunch(match.Record(i), match.ProcessOf(*launch));
      }
    }));
  }
  RETURN_IF_ERROR(ForEachId(match, [&] {
    match.Settle();
    match.Decide(owner);
    for (size_t i = 0; i < match.size(); ++i) Emit(match.Record(i), match.LaunchOf(i));
  }));
  RETURN_IF_ERROR(CountLonelyLaunches());
  contents_.calls.reset();
  contents_.devices.reset();
  return joined_.End();
}

}  // namespace nanolane::ingest::kineto
