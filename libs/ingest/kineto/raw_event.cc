#include "libs/ingest/kineto/raw_event.h"

#include <algorithm>
#include <limits>

#include "libs/ingest/kineto/decimal.h"
#include "libs/ingest/kineto/text.h"

namespace nanolane::ingest::kineto {
namespace {

// Reads any value; `text` is a number's or string's text, empty for everything else.
bool ReadScalar(JsonScanner& scanner, JsonText& text) {
  text = {};
  switch (scanner.PeekKind()) {
    case JsonKind::kString: return scanner.ReadString(text);
    case JsonKind::kNumber: return scanner.ReadNumber(text);
    default: return scanner.SkipValue();
  }
}

bool ReadUnsigned(JsonScanner& scanner, uint64_t& value) {
  JsonText text;
  if (!ReadScalar(scanner, text)) return false;
  (void)ParseUnsigned(scanner.View(text), value);
  return true;
}

bool ReadSigned(JsonScanner& scanner, int64_t& value, bool* present = nullptr) {
  JsonText text;
  if (!ReadScalar(scanner, text)) return false;
  const bool good = ParseSigned(scanner.View(text), value);
  if (present != nullptr) *present = good;
  return true;
}

bool ReadUint32(JsonScanner& scanner, uint32_t& value) {
  uint64_t wide = value;
  if (!ReadUnsigned(scanner, wide)) return false;
  value = static_cast<uint32_t>(std::min<uint64_t>(wide, std::numeric_limits<uint32_t>::max()));
  return true;
}

bool ReadText(JsonScanner& scanner, JsonText& text) { return ReadScalar(scanner, text); }

// "[8, 16, 5]"; anything else leaves zeros.
bool ReadShape(JsonScanner& scanner, std::array<uint32_t, 3>& shape) {
  size_t i = 0;
  return ForEachElement(scanner, [&] {
    return i < shape.size() ? ReadUint32(scanner, shape[i++]) : scanner.SkipValue();
  });
}

// Keys by length, because nearly all lengths belong to one key alone.
bool ReadArg(JsonScanner& scanner, std::string_view key, RawArgs& args) {
  switch (key.size()) {
    case 4:
      if (key == "grid") return ReadShape(scanner, args.grid);
      if (key == "Addr") return ReadUnsigned(scanner, args.address);
      if (key == "kind") return ReadText(scanner, args.kind);
      if (key == "name") return ReadText(scanner, args.name);
      break;
    case 5:
      if (key == "block") return ReadShape(scanner, args.block);
      if (key == "bytes" || key == "Bytes") return ReadSigned(scanner, args.bytes);
      if (key == "dtype") return ReadText(scanner, args.data_type);
      break;
    case 6:
      if (key == "device") return ReadSigned(scanner, args.device, &args.has_device);
      if (key == "stream") return ReadSigned(scanner, args.stream, &args.has_stream);
      if (key == "labels") return ReadText(scanner, args.labels);
      break;
    case 7:
      if (key == "context") return ReadSigned(scanner, args.context);
      break;
    case 9:
      if (key == "Device Id") return ReadSigned(scanner, args.device, &args.has_device);
      break;
    case 10:
      if (key == "Group size") return ReadText(scanner, args.group_size);
      break;
    case 11:
      if (key == "correlation") return ReadUnsigned(scanner, args.correlation);
      if (EqualsIgnoreCase(key, "external id")) {
        return ReadUnsigned(scanner, args.external_id);
      }
      if (key == "Device Type") return ReadSigned(scanner, args.device_type);
      break;
    case 13:
      if (key == "shared memory") return ReadUint32(scanner, args.shared_memory);
      if (key == "graph node id") return ReadUnsigned(scanner, args.graph_node);
      break;
    case 14:
      if (key == "Total Reserved") return ReadSigned(scanner, args.total_reserved);
      if (key == "wait_on_stream") return ReadSigned(scanner, args.wait_on_stream);
      if (key == "cuda_sync_kind") return ReadText(scanner, args.sync_kind);
      break;
    case 15:
      if (key == "Total Allocated") return ReadSigned(scanner, args.total_allocated);
      if (key == "Collective name") return ReadText(scanner, args.collective);
      break;
    case 18:
      if (key == "Process Group Name") return ReadText(scanner, args.group_name);
      break;
    case 20:
      if (key == "registers per thread") return ReadUint32(scanner, args.registers);
      break;
    default: break;
  }
  return scanner.SkipValue();
}

bool ReadArgs(JsonScanner& scanner, RawArgs& args) {
  return ForEachMember(scanner, [&](std::string_view key) { return ReadArg(scanner, key, args); });
}

bool NeedsArgs(EventClass cls) {
  switch (cls) {
    case EventClass::kOther:
    case EventClass::kCpuOp:
    case EventClass::kPythonFunction:
    case EventClass::kUserAnnotation: return false;
    default: return true;
  }
}

bool ReadId(JsonScanner& scanner, RawId& id) {
  if (!ReadScalar(scanner, id.text)) return false;
  id.is_number = ParseSigned(scanner.View(id.text), id.number);
  return true;
}

bool ReadTime(JsonScanner& scanner, TimeState& state, int64_t& ns) {
  JsonText text;
  if (!ReadScalar(scanner, text)) return false;
  state = ParseMicros(scanner.View(text), ns) ? TimeState::kGood : TimeState::kUnreadable;
  return true;
}

bool ReadPhase(JsonScanner& scanner, char& phase) {
  JsonText text;
  if (!ReadScalar(scanner, text)) return false;
  phase = text.size == 1 ? scanner.View(text)[0] : '?';
  return true;
}

bool ReadCategory(JsonScanner& scanner, EventClass& cls) {
  JsonText text;
  if (!ReadScalar(scanner, text)) return false;
  cls = EventClassOf(scanner.View(text));
  return true;
}

bool ReadMember(JsonScanner& scanner, std::string_view key, RawEvent& event) {
  switch (key.size()) {
    case 2:
      if (key == "ts") return ReadTime(scanner, event.start_state, event.start_ns);
      if (key == "ph") return ReadPhase(scanner, event.phase);
      break;
    case 3:
      if (key == "cat") return ReadCategory(scanner, event.cls);
      if (key == "pid") return ReadId(scanner, event.pid);
      if (key == "tid") return ReadId(scanner, event.tid);
      if (key == "dur") return ReadTime(scanner, event.duration_state, event.duration_ns);
      break;
    case 4:
      if (key == "name") {
        event.has_name = true;
        return ReadScalar(scanner, event.name);
      }
      if (key == "args" && NeedsArgs(event.cls)) return ReadArgs(scanner, event.args);
      break;
    default: break;
  }
  return scanner.SkipValue();
}

}  // namespace

EventClass EventClassOf(std::string_view category) {
  struct Row {
    std::string_view category;
    EventClass cls;
  };
  static constexpr Row kRows[] = {
      {"python_function", EventClass::kPythonFunction},
      {"cpu_op", EventClass::kCpuOp},
      {"ac2g", EventClass::kOther},
      {"cuda_runtime", EventClass::kRuntimeCall},
      {"kernel", EventClass::kKernel},
      {"cpu_instant_event", EventClass::kMemoryInstant},
      {"cuda_driver", EventClass::kDriverCall},
      {"gpu_memcpy", EventClass::kMemcpy},
      {"gpu_memset", EventClass::kMemset},
      {"cuda_sync", EventClass::kCudaSync},
      {"user_annotation", EventClass::kUserAnnotation},
      {"gpu_user_annotation", EventClass::kGpuUserAnnotation},
      // Profilers before PyTorch 1.11:
      {"Kernel", EventClass::kKernel},
      {"Memcpy", EventClass::kMemcpy},
      {"Memset", EventClass::kMemset},
      {"Runtime", EventClass::kRuntimeCall},
      {"Operator", EventClass::kCpuOp},
  };
  for (const Row& row : kRows) {
    if (row.category == category) return row.cls;
  }
  if (category.ends_with("_runtime")) return EventClass::kRuntimeCall;
  if (category.ends_with("_driver")) return EventClass::kDriverCall;
  return EventClass::kOther;
}

bool ReadEvent(JsonScanner& scanner, RawEvent& event) {
  return ForEachMember(scanner,
                       [&](std::string_view key) { return ReadMember(scanner, key, event); });
}

}  // namespace nanolane::ingest::kineto
