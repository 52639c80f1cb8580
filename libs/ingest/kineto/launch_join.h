// Joins device work to the calls that launched it, and so to processes.
//
// Calls and device records are merged in order of their correlation id, and matched id by id
// (launch_match.h). Where the file holds several processes, records that have one possible launch
// vote for its process on their (device, context, stream); a process with nearly all votes owns the
// stream, which settles collisions of ids there.
//
// Device work without a launch goes to the process that launched most on its (device, context,
// stream), else on its (device, stream), else on its device, else anywhere; where the file has no
// calls at all, to the process with the most host events, and where there is none, to a process of
// its own.
//
// Complexity: the sorts, and then linear in the records; memory per process and lane. With several
// processes the merge runs three times (votes, counts, results), else once.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "libs/ingest/kineto/launch_match.h"
#include "libs/ingest/kineto/trace_contents.h"

namespace nanolane::ingest::kineto {

// Thread-compatible.
class LaunchJoin {
 public:
  LaunchJoin(TraceContents& contents, JoinedSorter& joined)
      : contents_(contents), joined_(joined) {}

  // Fills `joined` and ends it, counts per process, and resets the contents' calls and devices.
  absl::Status Run();

  // By CallIndex: whether any device record was launched by it.
  std::vector<bool> TakeLaunching() { return std::move(launching_); }

 private:
  // Who launched how much, or has how many votes.
  using Tally = absl::flat_hash_map<ProcessIndex, uint64_t>;

  // Calls visit(match) for each correlation id with device records, whose calls are in `match` too.
  template <typename Visit>
  absl::Status ForEachId(LaunchMatch& match, Visit visit);

  void FindCallers();
  void FindPlaces();
  ProcessIndex ProcessWithoutCalls();
  ProcessIndex OwnerOfStream(const DeviceRecord& record) const;
  ProcessIndex OwnerWithoutLaunch(const DeviceRecord& record) const;
  void CountLaunch(const DeviceRecord& record, ProcessIndex process);
  void Emit(const DeviceRecord& record, const CallRecord* launch);
  absl::Status CountLonelyLaunches();
  bool OneProcess() const { return calling_processes_ <= 1; }

  TraceContents& contents_;
  JoinedSorter& joined_;
  std::vector<bool> launching_;
  size_t calling_processes_ = 0;
  ProcessIndex fallback_ = kNoIndex;  // owner of work that nothing else tells the owner of

  // By lane index: where what is counted stands, from the narrowest place to the widest. Lanes of
  // one (device, context, stream) share the first, of one (device, stream) the second, of one
  // device the third.
  static constexpr size_t kPlaces = 3;
  std::vector<std::array<uint32_t, kPlaces>> places_;
  std::vector<Tally> votes_;     // by place
  std::vector<Tally> launches_;  // by place
};

}  // namespace nanolane::ingest::kineto
