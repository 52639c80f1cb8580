// Who launched what among the calls and device records of one correlation id.
//
// Within one process the launch of a record is the last call that does not start after it; of
// nested calls the outer one. Several records may share a call (graph replay). Where the file holds
// several processes their ids collide, and one call of each may be the launch. Then, in this order:
//  - calls that start after the record fall away (more than a clock's skew after it: always), then
//    calls that cannot launch such work, then calls of another operator ("External id"), each while
//    others are left;
//  - a record with one call left takes it, and a call that launches one thing alone (all but a
//    graph's) is lost to the others;
//  - a record takes the call of the process that owns its stream, where there is one;
//  - the rest takes the nearest call before it, the last record first, which keeps their order.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "libs/ingest/kineto/trace_contents.h"

namespace nanolane::ingest::kineto {

// Thread-compatible.
class LaunchMatch {
 public:
  // More calls or records of one id than this are not looked at together.
  static constexpr size_t kMaxRecords = 8'192;
  static constexpr size_t kMaxCalls = 1'024;

  LaunchMatch(const TraceContents& contents, bool several_processes)
      : contents_(contents), several_processes_(several_processes) {}

  void Clear();
  void ClearRecords();
  // In order of their starts.
  void AddCall(const CallRecord& call);
  void AddRecord(const DeviceRecord& record);
  size_t size() const { return works_.size(); }

  // The first two steps. Afterwards LaunchOf tells of records that they settled.
  void Settle();
  // The other two. `owner` tells the process that owns the record's stream, or kNoIndex.
  void Decide(absl::FunctionRef<ProcessIndex(const DeviceRecord&)> owner);

  const DeviceRecord& Record(size_t i) const { return works_[i].record; }
  // Null: none, or not settled.
  const CallRecord* LaunchOf(size_t i) const {
    return works_[i].choices.size() == 1 ? &calls_[works_[i].choices[0]] : nullptr;
  }
  ProcessIndex ProcessOf(const CallRecord& call) const {
    return contents_.threads[call.thread].process;
  }

 private:
  struct Work {
    DeviceRecord record;
    absl::InlinedVector<uint32_t, 2> choices;  // of calls_; one for each process at most
    bool claimed = false;                      // its one choice has been taken from the others
  };

  void FindChoices(Work& work) const;
  template <typename Keep>
  static void Narrow(Work& work, Keep keep);
  void Take(Work& work, uint32_t call);
  void Propagate();

  const TraceContents& contents_;
  const bool several_processes_;
  std::vector<CallRecord> calls_;
  std::vector<Work> works_;
  std::vector<bool> taken_;  // by call: lost to records that have another choice
};

}  // namespace nanolane::ingest::kineto
