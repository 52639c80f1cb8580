#include "libs/ingest/kineto/trace_collector.h"

#include <xxhash.h>

#include <algorithm>
#include <limits>

#include "libs/ingest/kineto/frame_names.h"
#include "libs/ingest/kineto/op_names.h"
#include "libs/ingest/kineto/text.h"

namespace nanolane::ingest::kineto {
namespace {

using trace::EventKind;
using trace::LaneKind;
using trace::SyncKind;

constexpr size_t kMaxThreads = 1 << 18;
constexpr size_t kMaxNamedProcesses = 1 << 16;
constexpr uint64_t kTickEvents = 4'096;

// CUPTI's "no stream" as an unsigned number.
constexpr int64_t kNoStream32 = 0xFFFF'FFFF;

// Device types of the framework that are GPUs: CUDA and HIP.
constexpr int64_t kCudaDeviceType = 1;
constexpr int64_t kHipDeviceType = 6;

int32_t ToInt32(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}

uint32_t ToUint32(int64_t value) {
  return static_cast<uint32_t>(std::clamp<int64_t>(value, 0, std::numeric_limits<uint32_t>::max()));
}

uint32_t Fold(uint64_t id) { return static_cast<uint32_t>(id ^ (id >> 32)); }

int64_t StartOf(const RawEvent& event) {
  return event.start_state == TimeState::kGood ? event.start_ns : kBadTime;
}

int64_t DurationOf(const RawEvent& event) {
  return event.duration_state == TimeState::kUnreadable ? kBadTime : event.duration_ns;
}

// Profilers of 32-bit days wrote thread ids as negative numbers.
uint64_t ThreadId(int64_t number) {
  const bool wrapped = number < 0 && number >= std::numeric_limits<int32_t>::min();
  return wrapped ? static_cast<uint32_t>(number) : static_cast<uint64_t>(number);
}

EventKind KindOf(EventClass cls) {
  switch (cls) {
    case EventClass::kKernel: return EventKind::kKernel;
    case EventClass::kMemcpy: return EventKind::kMemcpy;
    case EventClass::kMemset: return EventKind::kMemset;
    case EventClass::kCudaSync: return EventKind::kSync;
    case EventClass::kGpuUserAnnotation: return EventKind::kNvtx;
    default: return EventKind::kUnspecified;
  }
}

int64_t StreamOf(const RawEvent& event) {
  const int64_t stream = event.args.has_stream ? event.args.stream : event.tid.number;
  return stream == kNoStream32 ? -1 : stream;
}

}  // namespace

void TraceCollector::Take(const RawEvent& event, const JsonScanner& scanner) {
  scanner_ = &scanner;
  if (++taken_ % kTickEvents == 0) tick_();
  if (event.phase == 'M') return TakeMetadata(event);
  if (event.cls == EventClass::kNone || event.cls == EventClass::kOther) return;
  if (event.cls == EventClass::kMemoryInstant) return TakeMemory(event);
  if (event.phase == 'B' || event.phase == 'E') return contents_.begin_end_pairs.Add(event.offset);
  if (event.phase != 'X') return;
  switch (event.cls) {
    case EventClass::kPythonFunction: return TakeFrame(event, HostKind::kPython);
    case EventClass::kCpuOp: return TakeFrame(event, HostKind::kOperator);
    case EventClass::kRuntimeCall:
    case EventClass::kDriverCall: return TakeCall(event);
    case EventClass::kUserAnnotation: return TakeAnnotation(event);
    default: return TakeDevice(event);
  }
}

void TraceCollector::TakeMetadata(const RawEvent& event) {
  if (!event.pid.is_number || !event.has_name) return;
  const std::string_view what = scanner_->View(event.name);
  if (what == "process_name" && contents_.process_names.size() < kMaxNamedProcesses) {
    contents_.process_names[event.pid.number] = InternText(event.args.name);
  } else if (what == "process_labels" && scanner_->View(event.args.labels) == "CPU") {
    contents_.labelled_process = event.pid.number;
  }
}

HostRecord TraceCollector::MakeHostRecord(const RawEvent& event, HostKind kind) {
  const ThreadIndex thread = InternThread(event);
  HostRecord record = {};
  record.start_ns = event.start_ns;
  record.duration_ns = std::max<int64_t>(0, event.duration_ns);
  record.process = thread == kNoIndex ? kNoIndex : contents_.threads[thread].process;
  record.thread = thread;
  record.name = InternText(event.name);
  record.kind = kind;
  return record;
}

void TraceCollector::TakeFrame(const RawEvent& event, HostKind kind) {
  if (event.start_state != TimeState::kGood) return;
  const HostRecord record = MakeHostRecord(event, kind);
  if (record.thread == kNoIndex) return;
  NoteStart(event);
  contents_.hosts.Add(record);
  ++contents_.processes[record.process].frames;
}

void TraceCollector::TakeCall(const RawEvent& event) {
  if (event.start_state != TimeState::kGood) return;
  HostRecord record = MakeHostRecord(event, HostKind::kCall);
  if (record.thread == kNoIndex) return;
  NoteStart(event);
  const CallIndex call = contents_.call_count++;
  record.call = call;
  record.driver = event.cls == EventClass::kDriverCall;
  contents_.hosts.Add(record);
  Process& process = contents_.processes[record.process];
  ++process.calls;
  if (sync_calls_.size() <= record.name) sync_calls_.resize(contents_.names.size());
  uint8_t& sync = sync_calls_[record.name];
  if (sync == 0) {
    sync = SyncKindOfCall(contents_.names.Text(record.name)) == SyncKind::kNone ? 1 : 2;
  }
  if (sync == 2) ++process.sync_calls;
  if (event.args.correlation == 0) return;
  contents_.calls->Add({.correlation = event.args.correlation,
                        .start_ns = record.start_ns,
                        .duration_ns = record.duration_ns,
                        .thread = record.thread,
                        .name = record.name,
                        .call = call,
                        .external_id = Fold(event.args.external_id)});
}

void TraceCollector::TakeAnnotation(const RawEvent& event) {
  HostRecord record = MakeHostRecord(event, HostKind::kAnnotation);
  if (record.thread == kNoIndex) return;
  NoteStart(event);
  record.start_ns = StartOf(event);
  record.duration_ns = DurationOf(event);
  contents_.hosts.Add(record);
  ++contents_.processes[record.process].annotations;
}

void TraceCollector::TakeMemory(const RawEvent& event) {
  const RawArgs& args = event.args;
  const bool on_gpu = args.device_type == kCudaDeviceType || args.device_type == kHipDeviceType;
  if (!on_gpu || scanner_->View(event.name) != "[memory]") return;
  const ThreadIndex thread = InternThread(event);
  if (thread == kNoIndex) return;
  NoteStart(event);
  const ProcessIndex process = contents_.threads[thread].process;
  contents_.memory.Add({.start_ns = StartOf(event),
                        .process = process,
                        .thread = thread,
                        .bytes = args.bytes,
                        .address = args.address,
                        .total_allocated = args.total_allocated,
                        .total_reserved = args.total_reserved,
                        .device = ToInt32(args.device)});
  ++contents_.processes[process].memory_events;
}

void TraceCollector::TakeDevice(const RawEvent& event) {
  NoteStart(event);
  const DeviceOp op = MakeOp(event);
  contents_.devices->Add({.correlation = event.args.correlation,
                          .start_ns = StartOf(event),
                          .duration_ns = DurationOf(event),
                          .bytes = event.args.bytes,
                          .graph_node = event.args.graph_node,
                          .op = InternOp(op),
                          .lane = InternLane(MakeLane(event, op.sync_kind)),
                          .external_id = Fold(event.args.external_id)});
}

DeviceOp TraceCollector::MakeOp(const RawEvent& event) {
  const RawArgs& args = event.args;
  DeviceOp op;
  op.kind = KindOf(event.cls);
  op.name = InternText(event.name);
  switch (event.cls) {
    case EventClass::kKernel:
      op.grid = args.grid;
      op.block = args.block;
      op.registers = args.registers;
      op.shared_memory = args.shared_memory;
      op.communication = {InternText(args.collective), InternText(args.data_type),
                          InternText(args.group_name), InternText(args.group_size)};
      break;
    case EventClass::kMemcpy: {
      const CopyFacts facts = CopyFactsOf(contents_.names.Text(op.name), scanner_->View(args.kind));
      op.copy_direction = facts.direction;
      op.source_memory = facts.source;
      op.destination_memory = facts.destination;
      break;
    }
    case EventClass::kMemset:
      op.destination_memory = MemsetTargetOf(contents_.names.Text(op.name));
      break;
    case EventClass::kCudaSync:
      op.sync_kind = SyncKindOfRecord(args.sync_kind.size > 0 ? scanner_->View(args.sync_kind)
                                                              : contents_.names.Text(op.name));
      break;
    default: break;
  }
  return op;
}

DeviceLane TraceCollector::MakeLane(const RawEvent& event, SyncKind sync_kind) const {
  const RawArgs& args = event.args;
  DeviceLane lane;
  lane.device = ToInt32(args.has_device ? args.device : event.pid.number);
  lane.context = ToUint32(args.context);
  lane.stream = StreamOf(event);
  if (event.cls == EventClass::kGpuUserAnnotation) {
    lane.kind = LaneKind::kNvtxStream;
    return lane;
  }
  if (event.cls != EventClass::kCudaSync) {
    lane.kind = LaneKind::kStream;
    return lane;
  }
  if (sync_kind == SyncKind::kEvent) {
    lane.stream = args.wait_on_stream == kNoStream32 ? -1 : args.wait_on_stream;
  } else if (sync_kind == SyncKind::kContext || sync_kind == SyncKind::kDevice) {
    lane.stream = -1;
  }
  lane.kind = lane.stream >= 0 ? LaneKind::kStreamSync : LaneKind::kNoStreamSync;
  lane.stream = std::max<int64_t>(-1, lane.stream);
  return lane;
}

uint32_t TraceCollector::InternOp(const DeviceOp& op) {
  const auto [it, added] = op_ids_.try_emplace(op, static_cast<uint32_t>(contents_.ops.size()));
  if (added) contents_.ops.push_back(op);
  return it->second;
}

uint32_t TraceCollector::InternLane(const DeviceLane& lane) {
  const auto [it, added] =
      lane_ids_.try_emplace(lane, static_cast<uint32_t>(contents_.lanes.size()));
  if (added) contents_.lanes.push_back(lane);
  return it->second;
}

ProcessIndex TraceCollector::InternProcess(const RawId& id) {
  const auto next = static_cast<ProcessIndex>(contents_.processes.size());
  if (id.is_number) {
    const auto [it, added] = process_ids_.try_emplace(id.number, next);
    if (added) contents_.processes.push_back({.id = id.number});
    return it->second;
  }
  const std::string text = CleanJsonString(scanner_->View(id.text));
  const auto [it, added] = named_process_ids_.try_emplace(text, next);
  if (added) contents_.processes.push_back({.id_text = text});
  return it->second;
}

ThreadIndex TraceCollector::InternThread(const RawEvent& event) {
  const bool numbers = event.pid.is_number && event.tid.is_number;
  if (numbers && last_thread_ != kNoIndex && event.pid.number == last_pid_ &&
      event.tid.number == last_tid_) {
    return last_thread_;
  }
  const ProcessIndex process = InternProcess(event.pid);
  uint64_t id = ThreadId(event.tid.number);
  if (!event.tid.is_number) {
    const std::string_view text = scanner_->View(event.tid.text);
    id = XXH3_64bits(text.data(), text.size()) >> 1;
  }
  const auto key = std::make_pair(process, id);
  auto it = thread_ids_.find(key);
  if (it == thread_ids_.end()) {
    if (contents_.threads.size() >= kMaxThreads) {
      contents_.too_many_threads.Add(event.offset);
      return kNoIndex;
    }
    it = thread_ids_.emplace(key, static_cast<ThreadIndex>(contents_.threads.size())).first;
    contents_.threads.push_back({.process = process, .id = id});
  }
  if (numbers) {
    last_pid_ = event.pid.number;
    last_tid_ = event.tid.number;
    last_thread_ = it->second;
  }
  return it->second;
}

NameId TraceCollector::InternText(const JsonText& text) {
  if (text.size == 0) return 0;
  std::string_view view = scanner_->View(text);
  if (text.escaped || text.dirty) {
    scratch_ = CleanJsonString(view);
    view = scratch_;
  }
  if (const size_t cut = AddressCut(view); cut > 0) {
    scratch_ = std::string(view.substr(0, cut)) + ">";
    view = scratch_;
  }
  return contents_.names.Intern(view);
}

void TraceCollector::NoteStart(const RawEvent& event) {
  if (event.start_state != TimeState::kGood || event.start_ns == 0) return;
  if (contents_.first_start_ns == kBadTime || event.start_ns < contents_.first_start_ns) {
    contents_.first_start_ns = event.start_ns;
  }
}

}  // namespace nanolane::ingest::kineto
