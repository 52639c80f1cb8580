// Which call launched which device work, and so which process the work belongs to.
//
// Calls and device records are merged in order of their correlation id. Within one process the
// launch is the last call with the record's id that does not start after it (many records may share
// one call: graph replay). Files merged of several processes have colliding ids. There a process is
// a candidate if such a call of it exists; candidates whose call cannot launch that kind of work,
// or names another operator ("External id"), fall away while others are left. A record with one
// candidate votes for it on its (device, context, stream). A record with several goes to the
// process that has nearly all votes there, else to the one whose call is nearest before it.
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
  // The best call of one process for the record in hand.
  struct Candidate {
    ProcessIndex process = 0;
    CallRecord call = {};
    bool before = false;  // starts no later than the record
  };
  // Who launched how much on a lane or device.
  using Tally = absl::flat_hash_map<ProcessIndex, uint64_t>;

  template <typename Visit>
  absl::Status ForEachRecord(Visit visit);
  void TakeCall(const CallRecord& call, int64_t record_start_ns);
  void NarrowCandidates(const DeviceRecord& record);
  template <typename Keep>
  void NarrowTo(Keep keep);
  const Candidate* Choose(const DeviceRecord& record) const;
  void Vote(const DeviceRecord& record);
  void CountLaunch(const DeviceRecord& record, ProcessIndex process);
  ProcessIndex OwnerWithoutLaunch(const DeviceRecord& record) const;
  void Emit(const DeviceRecord& record, const Candidate* launch);
  absl::Status CountLonelyLaunches();
  void FindCallers();
  void FindPlaces();
  ProcessIndex ProcessWithoutCalls();
  bool OneProcess() const { return calling_processes_ <= 1; }

  TraceContents& contents_;
  JoinedSorter& joined_;
  std::vector<bool> launching_;
  size_t calling_processes_ = 0;
  ProcessIndex fallback_ = kNoIndex;  // owner of work that nothing else tells the owner of

  // Calls of the correlation id in hand, one for each process.
  std::vector<Candidate> group_;
  // Those that may have launched the record in hand.
  std::vector<Candidate> candidates_;

  // By lane index: where what is counted stands, from the narrowest place to the widest. Lanes of
  // one (device, context, stream) share the first, of one (device, stream) the second, of one
  // device the third.
  static constexpr size_t kPlaces = 3;
  std::vector<std::array<uint32_t, kPlaces>> places_;
  std::vector<Tally> votes_;     // by place
  std::vector<Tally> launches_;  // by place
};

}  // namespace nanolane::ingest::kineto
