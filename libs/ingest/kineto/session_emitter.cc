#include "libs/ingest/kineto/session_emitter.h"

#include <algorithm>

#include "libs/base/status_macros.h"
#include "libs/ingest/kineto/op_names.h"
#include "libs/trace/op_family.h"

namespace nanolane::ingest::kineto {
namespace {

using trace::Event;
using trace::EventKind;
using trace::LaneKind;
using trace::SyncKind;

constexpr uint64_t kTellEvents = 65'536;

constexpr std::string_view kCommunicationKeys[] = {"collective", "dtype", "process_group",
                                                   "group_size"};

// Grows as needed; new entries are T().
template <typename T>
T& Slot(std::vector<T>& slots, size_t i) {
  if (i >= slots.size()) slots.resize(std::max(i + 1, slots.size() * 2));
  return slots[i];
}

}  // namespace

SessionEmitter::SessionEmitter(const Input& input, ProcessIndex process, SessionSink& sink)
    : input_(input),
      contents_(input.contents),
      process_(process),
      sink_(sink),
      dictionary_(sink.dictionary()),
      stacks_(contents_.names, dictionary_),
      device_ops_(contents_.ops.size() * 2),
      device_lanes_(contents_.lanes.size()) {
  FindContexts();
}

void SessionEmitter::FindContexts() {
  for (const DeviceLane& lane : contents_.lanes) {
    if (lane.kind != LaneKind::kStream) continue;
    const auto [it, added] = contexts_.try_emplace({lane.device, lane.stream}, lane.context);
    if (!added && it->second != lane.context) it->second = 0;
  }
}

void SessionEmitter::Skip(RecordReaders& readers, ProcessIndex process) {
  const auto skip = [process](auto& reader) {
    while (reader.Peek() != nullptr && reader.Peek()->process <= process) reader.Pop();
  };
  skip(readers.hosts);
  skip(readers.memory);
  skip(readers.joined);
}

absl::Status SessionEmitter::Run(RecordReaders& readers) {
  const auto next = [this](auto& reader) {
    const auto* record = reader.Peek();
    return record != nullptr && record->process == process_ ? record : nullptr;
  };
  // Host records before memory instants of the same time: the frame in which memory is taken begins
  // no later.
  for (;;) {
    const HostRecord* host = next(readers.hosts);
    const MemoryRecord* memory = next(readers.memory);
    if (host == nullptr && memory == nullptr) break;
    if (memory == nullptr || (host != nullptr && host->start_ns <= memory->start_ns)) {
      RETURN_IF_ERROR(TakeHost(*host));
      readers.hosts.Pop();
    } else {
      RETURN_IF_ERROR(TakeMemory(*memory));
      readers.memory.Pop();
    }
  }
  while (const JoinedRecord* joined = next(readers.joined)) {
    RETURN_IF_ERROR(TakeDevice(*joined));
    readers.joined.Pop();
  }
  RETURN_IF_ERROR(readers.hosts.status());
  RETURN_IF_ERROR(readers.memory.status());
  RETURN_IF_ERROR(readers.joined.status());
  input_.wrote(not_told_);
  std::sort(counts_.devices.begin(), counts_.devices.end());
  return absl::OkStatus();
}

absl::Status SessionEmitter::TakeHost(const HostRecord& record) {
  switch (record.kind) {
    case HostKind::kPython:
      stacks_.Push(record.thread, FrameSource::kPython, record.name, record.start_ns,
                   record.duration_ns);
      return absl::OkStatus();
    case HostKind::kOperator:
      stacks_.Push(record.thread, FrameSource::kOperator, record.name, record.start_ns,
                   record.duration_ns);
      return absl::OkStatus();
    case HostKind::kCall: return TakeCall(record);
    case HostKind::kAnnotation: return TakeAnnotation(record);
  }
  return absl::OkStatus();
}

absl::Status SessionEmitter::TakeCall(const HostRecord& record) {
  stacks_.Push(record.thread, record.driver ? FrameSource::kDriverCall : FrameSource::kRuntimeCall,
               record.name, record.start_ns, record.duration_ns);
  if (input_.launching[record.call]) {
    input_.stack_of_call[record.call] = stacks_.OfLastPush(record.thread);
  }
  const Process& process = contents_.processes[process_];
  if (process.sync_calls == 0 || process.sync_records > 0) return absl::OkStatus();
  const SyncKind kind = SyncKindOfCall(contents_.names.Text(record.name));
  return kind == SyncKind::kNone ? absl::OkStatus() : TakeSyncCall(record, kind);
}

absl::Status SessionEmitter::TakeSyncCall(const HostRecord& record, SyncKind kind) {
  // A driver call within a runtime call that waits is the same wait.
  int64_t& sync_end = Slot(sync_ends_, record.thread);
  if (record.start_ns < sync_end) return absl::OkStatus();
  Event event;
  event.start_ns = record.start_ns;
  event.duration_ns = record.duration_ns;
  if (!Keep(EventKind::kSync, event)) return absl::OkStatus();
  sync_end = event.start_ns + event.duration_ns;
  event.op = InternNamed(EventKind::kSync, record.name, kind);
  event.launch_start_ns = event.start_ns;
  event.launch_duration_ns = event.duration_ns;
  event.stack = stacks_.OfLastPush(record.thread);
  event.thread = contents_.threads[record.thread].id;
  if (no_stream_lane_ == 0) no_stream_lane_ = InternLane({.kind = LaneKind::kNoStreamSync});
  return Add(EventKind::kSync, no_stream_lane_, event);
}

absl::Status SessionEmitter::TakeAnnotation(const HostRecord& record) {
  Event event;
  event.start_ns = record.start_ns;
  event.duration_ns = record.duration_ns;
  if (!Keep(EventKind::kNvtx, event)) return absl::OkStatus();
  event.op = InternNamed(EventKind::kNvtx, record.name, SyncKind::kNone);
  event.thread = contents_.threads[record.thread].id;
  trace::LaneId& lane = Slot(annotation_lanes_, record.thread);
  if (lane == 0) lane = InternLane({.kind = LaneKind::kNvtxThread, .thread = event.thread});
  return Add(EventKind::kNvtx, lane, event);
}

absl::Status SessionEmitter::TakeMemory(const MemoryRecord& record) {
  Event event;
  event.start_ns = record.start_ns;
  if (!Keep(EventKind::kMemory, event)) return absl::OkStatus();
  event.op = InternMemoryOp(record.bytes >= 0);
  event.stack = stacks_.At(record.thread, record.start_ns);
  event.thread = contents_.threads[record.thread].id;
  event.bytes = record.bytes;
  event.address = record.address;
  event.level_bytes = record.total_allocated;
  event.reserved_bytes = record.total_reserved;
  trace::LaneId& lane = memory_lanes_[record.device];
  if (lane == 0) {
    lane = InternLane({.kind = LaneKind::kMemoryFramework, .gpu_index = record.device});
    NoteDevice(record.device);
  }
  return Add(EventKind::kMemory, lane, event);
}

absl::Status SessionEmitter::TakeDevice(const JoinedRecord& record) {
  const DeviceRecord& device = record.device;
  const DeviceOp& op = contents_.ops[device.op];
  Event event;
  event.start_ns = device.start_ns;
  event.duration_ns = device.duration_ns;
  if (!Keep(op.kind, event)) return absl::OkStatus();
  event.correlation = device.correlation;
  event.graph_node = device.graph_node;
  event.bytes = device.bytes;
  bool is_async = false;
  if (record.call != kNoIndex) {
    event.launch_start_ns = record.launch_start_ns;
    event.launch_duration_ns = record.launch_duration_ns;
    event.thread = contents_.threads[record.thread].id;
    event.stack = input_.stack_of_call[record.call];
    const bool can_be_async = op.kind == EventKind::kMemcpy || op.kind == EventKind::kMemset;
    is_async = can_be_async && IsAsyncCall(contents_.names.Text(record.call_name));
  }
  if (op.sync_kind == SyncKind::kStreamWaitEvent) {
    // The record's times are those of the host's call: the stream itself is marked, not blocked.
    if (record.call == kNoIndex) {
      event.launch_start_ns = event.start_ns;
      event.launch_duration_ns = event.duration_ns;
    }
    event.duration_ns = 0;
  }
  event.op = InternOp(device.op, is_async);
  return Add(op.kind, InternDeviceLane(device.lane), event);
}

bool SessionEmitter::Keep(EventKind kind, Event& event) {
  const bool zero_is_far = contents_.first_start_ns > kFarFromZeroNs;
  const Verdict verdict = Judge(event.start_ns, event.duration_ns, zero_is_far);
  event.duration_ns = std::max<int64_t>(0, event.duration_ns);
  ++counts_.verdicts[static_cast<size_t>(kind)][static_cast<size_t>(verdict)];
  return IsKept(verdict);
}

absl::Status SessionEmitter::Add(EventKind kind, trace::LaneId lane, const Event& event) {
  ++counts_.events[static_cast<size_t>(kind)];
  if (++not_told_ == kTellEvents) {
    input_.wrote(not_told_);
    not_told_ = 0;
  }
  return sink_.Add(lane, event);
}

trace::OpId SessionEmitter::InternOp(uint32_t index, bool is_async) {
  trace::OpId& known = device_ops_[index * 2 + (is_async ? 1 : 0)];
  if (known != 0) return known;
  const DeviceOp& from = contents_.ops[index];
  const std::string_view name = contents_.names.Text(from.name);
  trace::Op op;
  op.kind = from.kind;
  if (op.kind == EventKind::kKernel || op.kind == EventKind::kNvtx) {
    op.family = trace::FamilyOf(name);
  }
  op.copy_direction = from.copy_direction;
  op.source_memory = from.source_memory;
  op.destination_memory = from.destination_memory;
  op.sync_kind = from.sync_kind;
  op.is_async = is_async;
  op.name = dictionary_.Intern(name);
  op.grid = from.grid;
  op.block = from.block;
  op.registers_per_thread = from.registers;
  // The file has one number for static and dynamic shared memory together.
  op.dynamic_shared_bytes = from.shared_memory;
  for (size_t i = 0; i < from.communication.size(); ++i) {
    if (from.communication[i] == 0) continue;
    op.attributes.emplace_back(dictionary_.Intern(kCommunicationKeys[i]),
                               dictionary_.Intern(contents_.names.Text(from.communication[i])));
  }
  known = dictionary_.Intern(op);
  return known;
}

trace::OpId SessionEmitter::InternNamed(EventKind kind, NameId name, SyncKind sync_kind) {
  trace::OpId& known = named_ops_[{kind, name}];
  if (known != 0) return known;
  const std::string_view text = contents_.names.Text(name);
  trace::Op op;
  op.kind = kind;
  if (kind == EventKind::kNvtx) op.family = trace::FamilyOf(text);
  op.sync_kind = sync_kind;
  op.name = dictionary_.Intern(text);
  known = dictionary_.Intern(op);
  return known;
}

trace::OpId SessionEmitter::InternMemoryOp(bool allocation) {
  trace::OpId& known = memory_ops_[allocation ? 1 : 0];
  if (known == 0) {
    trace::Op op;
    op.kind = EventKind::kMemory;
    op.name = dictionary_.Intern(allocation ? "alloc" : "free");
    known = dictionary_.Intern(op);
  }
  return known;
}

trace::LaneId SessionEmitter::InternDeviceLane(uint32_t index) {
  trace::LaneId& known = device_lanes_[index];
  if (known != 0) return known;
  const DeviceLane& from = contents_.lanes[index];
  trace::Lane lane = {
      .kind = from.kind, .gpu_index = from.device, .context = from.context, .stream = from.stream};
  if (from.kind == LaneKind::kNvtxStream) {
    if (const auto it = contexts_.find({from.device, from.stream}); it != contexts_.end()) {
      lane.context = it->second;
    }
  }
  NoteDevice(from.device);
  known = InternLane(lane);
  return known;
}

trace::LaneId SessionEmitter::InternLane(const trace::Lane& lane) {
  return dictionary_.Intern(lane);
}

void SessionEmitter::NoteDevice(int32_t device) {
  const bool known =
      std::find(counts_.devices.begin(), counts_.devices.end(), device) != counts_.devices.end();
  if (device >= 0 && !known) counts_.devices.push_back(device);
}

}  // namespace nanolane::ingest::kineto
