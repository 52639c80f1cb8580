// The event model: what a session, a lane, an op, a frame, a stack and an event are.
//
// Ids are dense, start at 1 and belong to one writer epoch of one session; 0 means none. Times are
// int64 ns of the session's monotonic clock. Zero durations, overlaps and equal times are legal.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "libs/trace/kinds.h"

namespace nanolane::trace {

using StringId = uint32_t;
using FrameId = uint32_t;
using StackId = uint32_t;
using OpId = uint32_t;
using LaneId = uint32_t;

// "Not known", for launch times.
inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();
// "Not known", for bytes in use.
inline constexpr int64_t kNoLevel = std::numeric_limits<int64_t>::min();

// What happened, without when, who or whence. Equal ops of a session have one id.
struct Op {
  EventKind kind = EventKind::kUnspecified;
  OpFamily family = OpFamily::kOther;
  CopyDirection copy_direction = CopyDirection::kNone;
  MemoryKind source_memory = MemoryKind::kUnknown;
  MemoryKind destination_memory = MemoryKind::kUnknown;
  SyncKind sync_kind = SyncKind::kNone;
  bool is_async = false;
  StringId name = 0;
  std::array<uint32_t, 3> grid = {0, 0, 0};   // blocks; 0 where not a kernel
  std::array<uint32_t, 3> block = {0, 0, 0};  // threads
  uint32_t registers_per_thread = 0;
  uint32_t static_shared_bytes = 0;
  uint32_t dynamic_shared_bytes = 0;
  std::vector<std::pair<StringId, StringId>> attributes;  // further ones, key and value

  bool operator==(const Op&) const = default;
};

// One row of the timeline. Two lanes of a session with equal fields are the same lane.
struct Lane {
  LaneKind kind = LaneKind::kUnspecified;
  std::string gpu_uuid;    // empty: none or not known
  int32_t gpu_index = -1;  // as the process numbers its devices; -1: none
  uint32_t context = 0;    // CUDA context id; 0: none
  int64_t stream = -1;     // -1: none
  uint64_t thread = 0;     // operating-system thread id; 0: none
  std::string domain;      // NVTX domain; empty: the default one

  bool operator==(const Lane&) const = default;
  auto operator<=>(const Lane&) const = default;
};

// "Stream 7", "Stream 7 (sync)", "No stream (sync)", "NVTX thread 4121", "GPU memory", …
std::string LaneLabel(const Lane& lane);

enum class Language : uint8_t {
  kUnknown = 0,
  kPython = 1,
  kCpp = 2,
  kC = 3,
  kCuda = 4,
  kRust = 5,
  kKernel = 6,
};

enum class FrameCategory : uint8_t {
  kUnknown = 0,
  kApplication = 1,
  kFramework = 2,
  kRuntime = 3,
  kDriver = 4,
};

// A frame as it was seen. Native: build id (`module`) and offset. Python and imports: `module` is
// the file or the recorder's own text, `offset` the line or 0.
struct Frame {
  StringId module = 0;
  uint64_t offset = 0;

  bool operator==(const Frame&) const = default;
};

// What a frame means; may come late and improve.
struct Symbol {
  StringId function = 0;
  StringId file = 0;
  uint32_t line = 0;  // 0: not known
  Language language = Language::kUnknown;
  FrameCategory category = FrameCategory::kUnknown;

  bool operator==(const Symbol&) const = default;
};

// A node of the calling-context tree: the stack of `parent` with `frame` called from its end.
struct StackNode {
  StackId parent = 0;  // always lower than the node's own id
  FrameId frame = 0;

  bool operator==(const StackNode&) const = default;
};

// One event, for building and for tests; stored and sent only in columns (EventColumns).
struct Event {
  OpId op = 0;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int64_t launch_start_ns = kNoTime;  // the call that issued it; kNoTime: no call known
  int64_t launch_duration_ns = 0;
  StackId stack = 0;
  uint64_t thread = 0;       // of the launch call
  uint64_t correlation = 0;  // 0: none
  uint64_t graph_node = 0;   // 0: not of a graph
  int64_t bytes = 0;         // copied or set; for memory events the signed change
  // Memory events alone:
  uint64_t address = 0;
  uint32_t pool = 0;                  // 0: none
  int64_t level_bytes = kNoLevel;     // held after the event
  int64_t reserved_bytes = kNoLevel;  // reserved from the driver after the event

  bool operator==(const Event&) const = default;
};

// Where an event ends: start + max(duration, 0), held at int64's greatest value.
inline int64_t EndOf(int64_t start_ns, int64_t duration_ns) {
  constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();
  if (duration_ns <= 0) return start_ns;
  return start_ns > kLatest - duration_ns ? kLatest : start_ns + duration_ns;
}

// Something that is missing from a session, and why.
struct Loss {
  EventKind kind = EventKind::kUnspecified;  // kUnspecified: not of one kind
  std::string reason;
  uint64_t count = 0;
};

}  // namespace nanolane::trace
