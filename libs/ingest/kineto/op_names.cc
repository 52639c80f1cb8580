#include "libs/ingest/kineto/op_names.h"

#include "libs/ingest/kineto/text.h"

namespace nanolane::ingest::kineto {
namespace {

using trace::CopyDirection;
using trace::EventKind;
using trace::MemoryKind;
using trace::SyncKind;

// Arrays are device memory.
CopyDirection DirectionOf(std::string_view word) {
  struct Row {
    std::string_view word;
    CopyDirection direction;
  };
  static constexpr Row kRows[] = {
      {"HtoD", CopyDirection::kHostToDevice},
      {"HtoA", CopyDirection::kHostToDevice},
      {"DtoH", CopyDirection::kDeviceToHost},
      {"AtoH", CopyDirection::kDeviceToHost},
      {"DtoD", CopyDirection::kDeviceToDevice},
      {"AtoA", CopyDirection::kDeviceToDevice},
      {"AtoD", CopyDirection::kDeviceToDevice},
      {"DtoA", CopyDirection::kDeviceToDevice},
      {"HtoH", CopyDirection::kHostToHost},
      {"PtoP", CopyDirection::kPeerToPeer},
      {"HostToDevice", CopyDirection::kHostToDevice},
      {"DeviceToHost", CopyDirection::kDeviceToHost},
      {"DeviceToDevice", CopyDirection::kDeviceToDevice},
      {"HostToHost", CopyDirection::kHostToHost},
      {"PeerToPeer", CopyDirection::kPeerToPeer},
  };
  for (const Row& row : kRows) {
    if (word == row.word) return row.direction;
  }
  return CopyDirection::kNone;
}

MemoryKind MemoryKindOf(std::string_view word) {
  if (word == "Pageable") return MemoryKind::kPageable;
  if (word == "Pinned") return MemoryKind::kPinned;
  if (word == "Device" || word == "Device Static") return MemoryKind::kDevice;
  if (word == "Array") return MemoryKind::kArray;
  if (word == "Managed" || word == "Managed Static") return MemoryKind::kManaged;
  return MemoryKind::kUnknown;
}

// What stands between the first '(' and the last ')'.
std::string_view InParentheses(std::string_view name) {
  const size_t open = name.find('(');
  const size_t close = name.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return "";
  return name.substr(open + 1, close - open - 1);
}

}  // namespace

CopyFacts CopyFactsOf(std::string_view name, std::string_view kind) {
  CopyFacts facts;
  std::string_view word = name;
  if (ConsumePrefix(word, "Memcpy ")) facts.direction = DirectionOf(word.substr(0, word.find(' ')));
  if (facts.direction == CopyDirection::kNone) {
    ConsumePrefix(kind, "Copy");
    facts.direction = DirectionOf(kind);
  }
  constexpr std::string_view kArrow = " -> ";
  const std::string_view ends = InParentheses(name);
  if (const size_t arrow = ends.find(kArrow); arrow != std::string_view::npos) {
    facts.source = MemoryKindOf(ends.substr(0, arrow));
    facts.destination = MemoryKindOf(ends.substr(arrow + kArrow.size()));
  }
  return facts;
}

MemoryKind MemsetTargetOf(std::string_view name) { return MemoryKindOf(InParentheses(name)); }

SyncKind SyncKindOfRecord(std::string_view text) {
  if (text.starts_with("Stream Wait")) return SyncKind::kStreamWaitEvent;
  if (text.starts_with("Stream Sync")) return SyncKind::kStream;
  if (text.starts_with("Event Sync")) return SyncKind::kEvent;
  if (text.starts_with("Context Sync")) return SyncKind::kContext;
  if (text.starts_with("Device Sync")) return SyncKind::kDevice;
  return SyncKind::kNone;
}

SyncKind SyncKindOfCall(std::string_view call) {
  if (!ConsumePrefix(call, "cuda") && !ConsumePrefix(call, "hip") && !ConsumePrefix(call, "cu")) {
    return SyncKind::kNone;
  }
  struct Row {
    std::string_view object;
    SyncKind kind;
  };
  static constexpr Row kRows[] = {{"Stream", SyncKind::kStream},
                                  {"Event", SyncKind::kEvent},
                                  {"Device", SyncKind::kDevice},
                                  {"Thread", SyncKind::kDevice},
                                  {"Ctx", SyncKind::kContext}};
  for (const Row& row : kRows) {
    if (!ConsumePrefix(call, row.object)) continue;
    // Behind it only variants: "_v2", "_ptsz", "_v2_ptsz".
    const bool waits = ConsumePrefix(call, "Synchronize") && (call.empty() || call[0] == '_');
    return waits ? row.kind : SyncKind::kNone;
  }
  return SyncKind::kNone;
}

bool IsKernelLaunch(std::string_view call) {
  return Contains(call, "Launch") && !Contains(call, "GraphLaunch") && !Contains(call, "HostFunc");
}

bool CanLaunch(std::string_view call, EventKind kind) {
  if (Contains(call, "GraphLaunch")) return true;
  switch (kind) {
    case EventKind::kKernel: return Contains(call, "Launch");
    case EventKind::kMemcpy: return Contains(call, "Memcpy");
    case EventKind::kMemset: return Contains(call, "Memset");
    default: return true;
  }
}

bool IsAsyncCall(std::string_view call) { return Contains(call, "Async"); }

}  // namespace nanolane::ingest::kineto
