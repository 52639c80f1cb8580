#include "clients/cli/chrome/chrome_trace_writer.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "libs/base/str_cat.h"
#include "libs/trace/wire.h"

namespace nanolane::cli {
namespace {

using trace::EventKind;
using trace::LaneKind;

std::string_view CategoryOf(const trace::Lane& lane, EventKind kind) {
  switch (kind) {
    case EventKind::kKernel: return "kernel";
    case EventKind::kMemcpy: return "gpu_memcpy";
    case EventKind::kMemset: return "gpu_memset";
    case EventKind::kSync: return "cuda_sync";
    case EventKind::kNvtx:
      return lane.kind == LaneKind::kNvtxStream ? "gpu_user_annotation" : "user_annotation";
    case EventKind::kApi: return "cuda_runtime";
    default: return "other";
  }
}

std::string SyncName(trace::SyncKind kind) {
  switch (kind) {
    case trace::SyncKind::kStream: return "Stream Sync";
    case trace::SyncKind::kEvent: return "Event Sync";
    case trace::SyncKind::kStreamWaitEvent: return "Stream Wait Event";
    default: return "Context Sync";
  }
}

std::string FrameText(trace::FrameId frame, const trace::Dictionary& dictionary) {
  const trace::Symbol& symbol = dictionary.SymbolOf(frame);
  const std::string& function = dictionary.String(symbol.function);
  if (function.empty()) {
    const trace::Frame& raw = dictionary.FrameOf(frame);
    return base::StrCat(dictionary.String(raw.module), "+", raw.offset);
  }
  const std::string& file = dictionary.String(symbol.file);
  return file.empty() ? function : base::StrCat(file, "(", symbol.line, "): ", function);
}

}  // namespace

std::string ToMicroseconds(int64_t ns) {
  const bool negative = ns < 0;
  const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  return absl::StrFormat("%s%d.%03d", negative ? "-" : "", magnitude / 1'000, magnitude % 1'000);
}

std::string ToJsonString(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ChromeTraceWriter::ChromeTraceWriter(std::ostream& out,
                                     const nanolane::trace::v1::SessionSummary& summary)
    : out_(out),
      pid_(summary.session().pid()),
      is_capture_(summary.session().source() == "capture") {
  const auto& session = summary.session();
  out_
      << "{\"schemaVersion\":1,\"displayTimeUnit\":\"ms\",\"exporter\":\"nanolane\",\"session_id\":"
      << ToJsonString(session.session_id()) << ",";
  if (session.clock().unix_offset_known() && session.clock().unix_offset_ns() != 0) {
    out_ << "\"baseTimeNanoseconds\":" << session.clock().unix_offset_ns() << ",";
  }
  out_ << "\"deviceProperties\":[";
  for (int i = 0; i < session.gpus_size(); ++i) {
    out_ << (i == 0 ? "" : ",") << "{\"id\":" << session.gpus(i).index()
         << ",\"name\":" << ToJsonString(session.gpus(i).name())
         << ",\"totalGlobalMem\":" << session.gpus(i).memory_bytes() << "}";
  }
  out_ << "],\n\"traceEvents\":[\n";
  Open("M", "", "process_name");
  out_ << ",\"args\":{\"name\":" << ToJsonString(session.executable()) << "},\"pid\":" << pid_
       << ",\"tid\":0,\"ts\":" << ToMicroseconds(summary.start_ns()) << "}";
}

void ChromeTraceWriter::Open(std::string_view phase, std::string_view category,
                             const std::string& name) {
  out_ << (first_ ? "" : ",\n") << "{\"ph\":\"" << phase << "\"";
  first_ = false;
  if (!category.empty()) out_ << ",\"cat\":\"" << category << "\"";
  out_ << ",\"name\":" << ToJsonString(name);
}

void ChromeTraceWriter::WriteTimes(int64_t start_ns, int64_t duration_ns) {
  out_ << ",\"ts\":" << ToMicroseconds(start_ns) << ",\"dur\":" << ToMicroseconds(duration_ns);
}

void ChromeTraceWriter::WriteEvents(const trace::Lane& lane, uint64_t epoch,
                                    const trace::EventColumns& events,
                                    const trace::Dictionary& dictionary) {
  for (size_t i = 0; i < events.size(); ++i) {
    const trace::Event event = events.At(i);
    const trace::Op& op = dictionary.OpOf(event.op);
    ++events_written_;
    if (op.kind == EventKind::kMemory) {
      WriteMemory(lane, event);
      continue;
    }
    // A wait that an import saw as a call alone is written as that call, not twice. A capture sees
    // all of them as calls, and often knows the stream: those are records of their own.
    const bool is_call = !is_capture_ && op.kind == EventKind::kSync &&
                         event.launch_start_ns == event.start_ns &&
                         event.launch_duration_ns == event.duration_ns;
    if (!is_call) WriteEvent(lane, event, op, dictionary);
    if (event.launch_start_ns != trace::kNoTime) WriteLaunch(epoch, event, op, dictionary);
  }
}

void ChromeTraceWriter::WriteEvent(const trace::Lane& lane, const trace::Event& event,
                                   const trace::Op& op, const trace::Dictionary& dictionary) {
  const bool of_thread = lane.kind == LaneKind::kNvtxThread || lane.kind == LaneKind::kThreadApi;
  const std::string name =
      op.kind == EventKind::kSync ? SyncName(op.sync_kind) : dictionary.String(op.name);
  Open("X", CategoryOf(lane, op.kind), name);
  if (of_thread) {
    out_ << ",\"pid\":" << pid_ << ",\"tid\":" << lane.thread;
  } else {
    out_ << ",\"pid\":" << lane.gpu_index << ",\"tid\":" << lane.stream;
  }
  // An instant's host times stand in its launch.
  const bool instant =
      op.sync_kind == trace::SyncKind::kStreamWaitEvent && event.launch_start_ns != trace::kNoTime;
  WriteTimes(event.start_ns, instant ? event.launch_duration_ns : event.duration_ns);
  out_ << ",\"args\":{";
  // Readers take whatever names a stream in its arguments for device work: ranges must not.
  if (!of_thread && op.kind != EventKind::kNvtx) WriteDeviceArgs(lane, event, op);
  out_ << "}}";
}

void ChromeTraceWriter::WriteDeviceArgs(const trace::Lane& lane, const trace::Event& event,
                                        const trace::Op& op) {
  out_ << "\"device\":" << lane.gpu_index << ",\"context\":" << lane.context << ",\"stream\":"
       << (op.kind == EventKind::kSync && op.sync_kind == trace::SyncKind::kEvent ? -1
                                                                                  : lane.stream);
  if (event.correlation != 0) out_ << ",\"correlation\":" << event.correlation;
  if (event.graph_node != 0) out_ << ",\"graph node id\":" << event.graph_node;
  if (op.kind == EventKind::kKernel) {
    out_ << absl::StrFormat(
        ",\"grid\":[%d,%d,%d],\"block\":[%d,%d,%d],\"registers per thread\":%d,\"shared "
        "memory\":%d",
        op.grid[0], op.grid[1], op.grid[2], op.block[0], op.block[1], op.block[2],
        op.registers_per_thread, op.static_shared_bytes + op.dynamic_shared_bytes);
  }
  if (op.kind == EventKind::kMemcpy || op.kind == EventKind::kMemset) {
    out_ << ",\"bytes\":" << event.bytes;
  }
  if (op.kind == EventKind::kSync) {
    out_ << ",\"cuda_sync_kind\":\"" << SyncName(op.sync_kind)
         << "\",\"wait_on_stream\":" << lane.stream;
  }
}

void ChromeTraceWriter::WriteLaunch(uint64_t epoch, const trace::Event& event, const trace::Op& op,
                                    const trace::Dictionary& dictionary) {
  if (!launches_.emplace(event.correlation, event.launch_start_ns).second) return;
  const trace::StackNode& leaf = dictionary.Stack(event.stack);
  // A capture's waits are named by their call.
  const std::string& call = is_capture_ && op.kind == EventKind::kSync
                                ? dictionary.String(op.name)
                                : dictionary.String(dictionary.SymbolOf(leaf.frame).function);
  const bool driver = call.starts_with("cu") && !call.starts_with("cuda");
  Open("X", driver ? "cuda_driver" : "cuda_runtime", call.empty() ? "launch" : call);
  out_ << ",\"pid\":" << pid_ << ",\"tid\":" << event.thread;
  WriteTimes(event.launch_start_ns, event.launch_duration_ns);
  if (event.stack != 0) {
    UseStack(epoch, event.stack, dictionary);
    out_ << ",\"sf\":\"" << epoch << "." << event.stack << "\"";
  }
  out_ << ",\"args\":{\"correlation\":" << event.correlation << "}}";
}

void ChromeTraceWriter::WriteMemory(const trace::Lane& lane, const trace::Event& event) {
  Open("i", "cpu_instant_event", "[memory]");
  out_ << ",\"s\":\"t\",\"pid\":" << pid_ << ",\"tid\":" << event.thread
       << ",\"ts\":" << ToMicroseconds(event.start_ns)
       << ",\"args\":{\"Device Type\":1,\"Device Id\":" << lane.gpu_index
       << ",\"Addr\":" << event.address << ",\"Bytes\":" << event.bytes;
  if (event.level_bytes != trace::kNoLevel) out_ << ",\"Total Allocated\":" << event.level_bytes;
  if (event.reserved_bytes != trace::kNoLevel) {
    out_ << ",\"Total Reserved\":" << event.reserved_bytes;
  }
  out_ << "}}";
}

void ChromeTraceWriter::UseStack(uint64_t epoch, trace::StackId stack,
                                 const trace::Dictionary& dictionary) {
  for (trace::StackId at = stack; at != 0 && stacks_.emplace(epoch, at).second;
       at = dictionary.Stack(at).parent) {
    const trace::StackNode& node = dictionary.Stack(at);
    if (!stack_frames_.empty()) stack_frames_ += ",\n";
    stack_frames_ += base::StrCat("\"", epoch, ".", at,
                                  "\":{\"name\":", ToJsonString(FrameText(node.frame, dictionary)));
    if (node.parent != 0)
      stack_frames_ += base::StrCat(",\"parent\":\"", epoch, ".", node.parent, "\"");
    stack_frames_ += "}";
  }
}

void ChromeTraceWriter::Finish() {
  out_ << "\n],\n\"stackFrames\":{\n" << stack_frames_ << "\n}}\n";
  out_.flush();
}

}  // namespace nanolane::cli
