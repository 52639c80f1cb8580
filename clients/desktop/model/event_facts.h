// What the viewer says about one event: the lines of the hover card and the details panel, as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

struct EventRef {
  size_t lane = 0;   // index into the model's lanes
  size_t event = 0;  // of the lane

  bool operator==(const EventRef&) const = default;
};

struct Fact {
  std::string key;
  std::string value;
};

struct StackLine {
  std::string function;
  std::string place;  // "modeling_bert.py:543"; may be empty
  trace::Language language = trace::Language::kUnknown;
};

// What is known of a frame; its module where its function is not.
StackLine FrameLine(const trace::Dictionary& dictionary, trace::FrameId id);

struct EventFacts {
  std::string name;  // short
  std::string full_name;
  trace::Category category = trace::Category::kOtherKernel;
  int64_t duration_ns = 0;
  std::vector<Fact> when;        // duration, start, launch: times and identity
  std::vector<Fact> shape;       // what the kind adds: grid and block, bytes and memories
  std::vector<StackLine> stack;  // outermost first
  std::string languages;         // of the stack: "python, c++"
};

// All there is to say about `ref`. Unpacks the event's block.
absl::StatusOr<EventFacts> FactsOf(const TimelineModel& model, const EventRef& ref);

// The hover card: a title and up to three lines. `crowd` is the number of events in the pixel under
// the cursor: more than one is said.
struct HoverCard {
  std::string title;
  std::vector<std::string> lines;
  trace::Category category = trace::Category::kOtherKernel;
  std::optional<trace::Language> language = std::nullopt;  // of a frame; it has no category
  bool warns = false;                                      // of a loss
};
HoverCard CardOf(const TimelineModel& model, const EventRef& ref, size_t crowd);

// The same for a column of a session that is not loaded.
HoverCard CardOf(const TileFrames::Spot& spot);

// The same for a point of a memory row.
HoverCard CardOf(const TimelineModel& model, const MemoryLevel& level, int64_t time_ns);

std::string LanguageName(trace::Language language);

// "stream 7", "thread 4121", …: the lane in a sentence.
std::string LaneInWords(const trace::Lane& lane);

}  // namespace nanolane::desktop
