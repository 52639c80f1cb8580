// What the viewer knows of sessions and lanes before it has any event, and the messages in which
// the loader hands over what it reads. No protobuf: the loader converts, the model and the views
// know these types alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "libs/trace/dictionary.h"
#include "libs/trace/event_columns.h"
#include "libs/trace/model.h"

namespace nanolane::desktop {

struct GpuFacts {
  int32_t index = -1;
  std::string uuid;
  std::string name;           // "NVIDIA H200"; empty: not known
  uint64_t memory_bytes = 0;  // 0: not known
};

struct SessionFacts {
  std::string id;
  std::string project;
  std::string host;
  std::string executable;
  std::vector<std::string> command_line;
  std::string source;  // "capture", "import:FILE"
  uint64_t pid = 0;
  std::vector<GpuFacts> gpus;
  int64_t start_ns = 0;  // first event's start: where times shown to people count from
  int64_t end_ns = 0;
  uint64_t events = 0;
  int64_t unix_offset_ns = 0;
  bool unix_offset_known = false;
  bool ended = false;
  std::vector<trace::Loss> losses;
  std::vector<trace::Loss> left_out;
  std::string end_reason;  // why a capture ended; empty: not known
  uint64_t stored_bytes = 0;
  int64_t changed_unix_ns = 0;  // the newest append; 0: not known
};

struct LaneFacts {
  uint32_t session = 0;  // index into the stream's sessions
  trace::LaneId id = 0;  // in the session
  trace::Lane lane;
  std::string label;
  uint64_t events = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// First message of a stream. Of a session that is followed there may be further ones: what came
// before is superseded, and everything follows anew.
struct StreamOpened {
  std::vector<SessionFacts> sessions;
  std::vector<LaneFacts> lanes;
  uint64_t expected_events = 0;
  bool live = false;  // the session is followed: it grows until it ends
  // The session has more events than are loaded: only those that overlap [part_start_ns,
  // part_end_ns) come, none where that is empty.
  bool is_part = false;
  int64_t part_start_ns = 0;
  int64_t part_end_ns = 0;
};

// Lanes that are new, or of which more is known than before.
struct LanesGrew {
  std::vector<LaneFacts> lanes;
};

// Dictionary entries that later blocks need.
struct DictionaryEntries {
  uint32_t session = 0;
  uint64_t epoch = 0;
  trace::DictionaryDelta delta;
};

// Events of one lane: the timeline's columns decoded, the rest still packed.
struct BlockArrived {
  uint32_t session = 0;
  trace::LaneId lane = 0;
  uint64_t epoch = 0;
  trace::EventColumns columns;   // op, start, duration; levels for memory lanes
  std::string packed;            // the block itself, for what a tooltip asks later
  uint64_t expected_events = 0;  // of the whole stream, as known now; 0: as said before
};

// The end of one step of a session that is followed.
struct StepEnded {
  std::optional<SessionFacts> session;  // where it has changed
  bool caught_up = false;               // everything that the server has was handed over
};

// The connection of a session that is followed has broken. It is tried again; the next message of
// another kind says that it stands.
struct Interrupted {
  absl::Status status;
};

// Last message: everything was sent (OK), or why not.
struct StreamEnded {
  absl::Status status;
};

using LoaderMessage = std::variant<StreamOpened, LanesGrew, DictionaryEntries, BlockArrived,
                                   StepEnded, Interrupted, StreamEnded>;

}  // namespace nanolane::desktop
