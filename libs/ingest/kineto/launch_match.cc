#include "libs/ingest/kineto/launch_match.h"

#include <algorithm>

#include "libs/ingest/kineto/op_names.h"
#include "libs/ingest/kineto/text.h"

namespace nanolane::ingest::kineto {
namespace {

using trace::EventKind;

// How much later than its device work a call may be stamped, where the file holds several
// processes.
constexpr int64_t kClockSkewNs = 1'000'000;

}  // namespace

void LaunchMatch::Clear() {
  calls_.clear();
  ClearRecords();
}

void LaunchMatch::ClearRecords() {
  works_.clear();
  taken_.clear();
}

void LaunchMatch::AddCall(const CallRecord& call) {
  if (calls_.size() < kMaxCalls) calls_.push_back(call);
}

void LaunchMatch::AddRecord(const DeviceRecord& record) {
  works_.emplace_back();
  works_.back().record = record;
}

void LaunchMatch::FindChoices(Work& work) const {
  for (uint32_t i = 0; i < calls_.size(); ++i) {
    const CallRecord& call = calls_[i];
    const bool before = call.start_ns <= work.record.start_ns;
    const auto known = std::find_if(work.choices.begin(), work.choices.end(), [&](uint32_t choice) {
      return ProcessOf(calls_[choice]) == ProcessOf(call);
    });
    if (known == work.choices.end()) {
      work.choices.push_back(i);
      continue;
    }
    const CallRecord& earlier = calls_[*known];
    const bool nested =
        earlier.thread == call.thread && call.start_ns - earlier.start_ns < earlier.duration_ns;
    if (before && !nested) *known = i;
  }
}

template <typename Keep>
void LaunchMatch::Narrow(Work& work, Keep keep) {
  if (std::none_of(work.choices.begin(), work.choices.end(), keep)) return;
  work.choices.erase(std::remove_if(work.choices.begin(), work.choices.end(),
                                    [&keep](uint32_t choice) { return !keep(choice); }),
                     work.choices.end());
}

void LaunchMatch::Settle() {
  for (Work& work : works_) {
    FindChoices(work);
    if (!several_processes_) continue;
    const DeviceRecord& record = work.record;
    work.choices.erase(std::remove_if(work.choices.begin(), work.choices.end(),
                                      [&](uint32_t choice) {
                                        return calls_[choice].start_ns >
                                               record.start_ns + kClockSkewNs;
                                      }),
                       work.choices.end());
    Narrow(work, [&](uint32_t choice) { return calls_[choice].start_ns <= record.start_ns; });
    const EventKind kind = contents_.ops[record.op].kind;
    Narrow(work, [&](uint32_t choice) {
      return CanLaunch(contents_.names.Text(calls_[choice].name), kind);
    });
    if (record.external_id == 0) continue;
    Narrow(work, [&](uint32_t choice) { return calls_[choice].external_id == record.external_id; });
  }
  if (several_processes_) Propagate();
}

void LaunchMatch::Propagate() {
  taken_.resize(calls_.size());
  bool changed = works_.size() > 1;
  while (changed) {
    changed = false;
    for (Work& work : works_) {
      if (work.claimed || work.choices.size() != 1) continue;
      work.claimed = changed = true;
      const uint32_t taken = work.choices[0];
      if (taken_[taken]) continue;
      taken_[taken] = true;
      if (Contains(contents_.names.Text(calls_[taken].name), "GraphLaunch")) continue;
      for (Work& other : works_) {
        if (other.choices.size() > 1)
          Narrow(other, [&](uint32_t choice) { return choice != taken; });
      }
    }
  }
}

void LaunchMatch::Take(Work& work, uint32_t call) {
  work.choices = {call};
  Propagate();
}

void LaunchMatch::Decide(absl::FunctionRef<ProcessIndex(const DeviceRecord&)> owner) {
  if (!several_processes_) return;
  for (Work& work : works_) {
    if (work.choices.size() < 2) continue;
    const ProcessIndex elected = owner(work.record);
    for (const uint32_t choice : work.choices) {
      if (ProcessOf(calls_[choice]) != elected) continue;
      Take(work, choice);
      break;
    }
  }
  for (auto work = works_.rbegin(); work != works_.rend(); ++work) {
    if (work->choices.size() < 2) continue;
    Take(*work, *std::max_element(work->choices.begin(), work->choices.end(),
                                  [this](uint32_t a, uint32_t b) {
                                    return calls_[a].start_ns < calls_[b].start_ns;
                                  }));
  }
}

}  // namespace nanolane::ingest::kineto
