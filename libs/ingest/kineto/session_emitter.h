// The last pass: writes the sorted records of a file, process by process, into session sinks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/ingest/kineto/call_stacks.h"
#include "libs/ingest/kineto/kineto_import.h"
#include "libs/ingest/kineto/suspect.h"
#include "libs/ingest/kineto/trace_contents.h"
#include "libs/ingest/session_sink.h"

namespace nanolane::ingest::kineto {

// Positions in the sorted records, which all processes of a file share.
struct RecordReaders {
  HostSorter::Reader hosts;
  MemorySorter::Reader memory;
  JoinedSorter::Reader joined;
};

// What was counted while the events of one process were written.
struct EmitCounts {
  std::array<uint64_t, trace::kEventKindCount> events = {};
  std::array<std::array<uint64_t, kVerdictCount>, trace::kEventKindCount> verdicts = {};
  std::vector<int32_t> devices;  // that events name, ascending
};

// Writes the events of one process. Thread-compatible.
class SessionEmitter {
 public:
  struct Input {
    const TraceContents& contents;
    const std::vector<bool>& launching;          // by call
    std::vector<trace::StackId>& stack_of_call;  // by call; scratch
    std::function<void(uint64_t)> wrote;         // called now and then with a number of events
  };

  SessionEmitter(const Input& input, ProcessIndex process, SessionSink& sink);

  // Reads the records of the process from `readers`, which stand at its first ones.
  absl::Status Run(RecordReaders& readers);

  const EmitCounts& counts() const { return counts_; }

  // Moves `readers` behind the records of a process that is not written.
  static void Skip(RecordReaders& readers, ProcessIndex process);

 private:
  absl::Status TakeHost(const HostRecord& record);
  absl::Status TakeCall(const HostRecord& record);
  absl::Status TakeSyncCall(const HostRecord& record, trace::SyncKind kind);
  absl::Status TakeAnnotation(const HostRecord& record);
  absl::Status TakeMemory(const MemoryRecord& record);
  absl::Status TakeDevice(const JoinedRecord& record);

  // Counts the verdict; true where the event is kept, its duration then not negative.
  bool Keep(trace::EventKind kind, trace::Event& event);
  absl::Status Add(trace::EventKind kind, trace::LaneId lane, const trace::Event& event);

  trace::OpId InternOp(uint32_t op, bool is_async);
  trace::OpId InternNamed(trace::EventKind kind, NameId name, trace::SyncKind sync_kind);
  trace::OpId InternMemoryOp(bool allocation);
  trace::LaneId InternDeviceLane(uint32_t lane);
  trace::LaneId InternLane(const trace::Lane& lane);
  void FindContexts();
  void NoteDevice(int32_t device);

  const Input input_;
  const TraceContents& contents_;
  const ProcessIndex process_;
  SessionSink& sink_;
  trace::DictionaryBuilder& dictionary_;
  CallStacks stacks_;
  EmitCounts counts_;
  uint64_t not_told_ = 0;  // events since `wrote` was called

  std::vector<trace::OpId> device_ops_;      // by op · 2 + asynchronous
  std::vector<trace::LaneId> device_lanes_;  // by lane
  absl::flat_hash_map<std::pair<trace::EventKind, NameId>, trace::OpId> named_ops_;
  std::array<trace::OpId, 2> memory_ops_ = {0, 0};
  std::vector<trace::LaneId> annotation_lanes_;  // by thread
  std::vector<int64_t> sync_ends_;               // by thread: end of the last sync call
  absl::flat_hash_map<int32_t, trace::LaneId> memory_lanes_;
  trace::LaneId no_stream_lane_ = 0;
  // Context of a (device, stream) that has one alone, for ranges, which do not name theirs.
  absl::flat_hash_map<std::pair<int32_t, int64_t>, uint32_t> contexts_;
};

}  // namespace nanolane::ingest::kineto
