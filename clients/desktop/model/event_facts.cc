#include "clients/desktop/model/event_facts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/wide_math.h"
#include "libs/base/number_text.h"
#include "libs/base/status_macros.h"

namespace nanolane::desktop {
namespace {

using trace::Event;
using trace::EventKind;
using trace::Op;

std::string Extent3(const std::array<uint32_t, 3>& extent) {
  return absl::StrCat(extent[0], " × ", extent[1], " × ", extent[2]);
}

std::string FileName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// "8.104 µs before", "1.2 µs after": when the call that issued the event began.
std::string LaunchText(const Event& event) {
  const int64_t delay = ClampToInt64(static_cast<Wide>(event.start_ns) - event.launch_start_ns);
  return delay >= 0 ? absl::StrCat(ExactTime(delay), " before")
                    : absl::StrCat(ExactTime(ClampToInt64(-static_cast<Wide>(delay))), " after");
}

void AddTimes(const TimelineModel& model, const LaneFacts& lane, const Event& event,
              std::vector<Fact>& facts) {
  const int64_t since = ClampToInt64(static_cast<Wide>(event.start_ns) - model.origin_ns());
  facts.push_back({"duration", ExactTime(event.duration_ns)});
  facts.push_back({"start", absl::StrCat(since < 0 ? "" : "+", ExactTime(since))});
  if (event.launch_start_ns != trace::kNoTime) {
    facts.push_back({"launched", LaunchText(event)});
    facts.push_back({"call took", ExactTime(event.launch_duration_ns)});
  }
  if (lane.lane.stream >= 0) {
    const std::string gpu =
        lane.lane.gpu_index < 0 ? "" : absl::StrCat(" · GPU ", lane.lane.gpu_index);
    facts.push_back({"stream", absl::StrCat(lane.lane.stream, gpu)});
  }
  const uint64_t thread = event.thread != 0 ? event.thread : lane.lane.thread;
  if (thread != 0) facts.push_back({"thread", absl::StrCat(thread)});
  if (event.correlation != 0)
    facts.push_back({"correlation", base::GroupedCount(event.correlation)});
  if (event.graph_node != 0) facts.push_back({"graph node", base::GroupedCount(event.graph_node)});
}

void AddKernel(const Op& op, std::vector<Fact>& facts) {
  if (op.grid[0] != 0) facts.push_back({"grid", Extent3(op.grid)});
  if (op.block[0] != 0) facts.push_back({"block", Extent3(op.block)});
  if (op.registers_per_thread != 0) {
    facts.push_back({"registers", absl::StrCat(op.registers_per_thread)});
  }
  const int64_t shared = int64_t{op.static_shared_bytes} + op.dynamic_shared_bytes;
  if (op.grid[0] != 0) facts.push_back({"shared", shared == 0 ? "none" : BytesText(shared)});
  facts.push_back({"family", std::string(trace::ToString(op.family))});
}

void AddTransfer(const Op& op, const Event& event, std::vector<Fact>& facts) {
  facts.push_back({"bytes", BytesText(event.bytes)});
  const std::string rate = RateText(event.bytes, event.duration_ns);
  if (!rate.empty()) facts.push_back({"rate", rate});
  if (op.copy_direction != trace::CopyDirection::kNone) {
    facts.push_back({"direction", std::string(trace::ToString(op.copy_direction))});
  }
  const std::string_view from = trace::ToString(op.source_memory);
  const std::string_view to = trace::ToString(op.destination_memory);
  if (!from.empty()) facts.push_back({"from", std::string(from)});
  if (!to.empty()) facts.push_back({"to", std::string(to)});
  facts.push_back({"call", op.is_async ? "asynchronous" : "synchronous"});
}

void AddMemory(const Event& event, std::vector<Fact>& facts) {
  facts.push_back({"change", absl::StrCat(event.bytes > 0 ? "+" : "", BytesText(event.bytes))});
  if (event.level_bytes != trace::kNoLevel) {
    facts.push_back({"held after", BytesText(event.level_bytes)});
  }
  if (event.reserved_bytes != trace::kNoLevel) {
    facts.push_back({"reserved", BytesText(event.reserved_bytes)});
  }
  if (event.address != 0)
    facts.push_back({"address", absl::StrCat("0x", absl::Hex(event.address))});
}

void AddShape(const trace::Dictionary& dictionary, const Op& op, const Event& event,
              std::vector<Fact>& facts) {
  switch (op.kind) {
    case EventKind::kKernel: AddKernel(op, facts); break;
    case EventKind::kMemcpy:
    case EventKind::kMemset: AddTransfer(op, event, facts); break;
    case EventKind::kSync:
      facts.push_back({"waits for", std::string(trace::ToString(op.sync_kind))});
      break;
    case EventKind::kMemory: AddMemory(event, facts); break;
    case EventKind::kNvtx:
    case EventKind::kApi:
    case EventKind::kUnspecified: break;
  }
  for (const auto& [key, value] : op.attributes) {
    facts.push_back({dictionary.String(key), dictionary.String(value)});
  }
}

void AddStack(const trace::Dictionary& dictionary, trace::StackId stack, EventFacts& facts) {
  std::vector<std::string> languages;
  for (const trace::FrameId frame : dictionary.Frames(stack)) {
    facts.stack.push_back(FrameLine(dictionary, frame));
    const std::string language = LanguageName(facts.stack.back().language);
    const bool known = std::find(languages.begin(), languages.end(), language) != languages.end();
    if (!language.empty() && !known) languages.push_back(language);
  }
  facts.languages = absl::StrJoin(languages, ", ");
}

}  // namespace

StackLine FrameLine(const trace::Dictionary& dictionary, trace::FrameId id) {
  const trace::Symbol& symbol = dictionary.SymbolOf(id);
  const trace::Frame& frame = dictionary.FrameOf(id);
  StackLine line{
      .function = dictionary.String(symbol.function), .place = {}, .language = symbol.language};
  std::string file = FileName(dictionary.String(symbol.file));
  if (!file.empty() && symbol.line != 0) absl::StrAppend(&file, ":", symbol.line);
  line.place = file;
  if (line.function.empty()) {
    line.function = FileName(dictionary.String(frame.module));
    if (frame.offset != 0) line.place = absl::StrCat("+0x", absl::Hex(frame.offset));
  }
  return line;
}

std::string LanguageName(trace::Language language) {
  switch (language) {
    case trace::Language::kUnknown: return "";
    case trace::Language::kPython: return "python";
    case trace::Language::kCpp: return "c++";
    case trace::Language::kC: return "c";
    case trace::Language::kCuda: return "cuda";
    case trace::Language::kRust: return "rust";
    case trace::Language::kKernel: return "kernel";
  }
  return "";
}

std::string LaneInWords(const trace::Lane& lane) {
  if (lane.stream >= 0) return absl::StrCat("stream ", lane.stream);
  if (lane.thread != 0) return absl::StrCat("thread ", lane.thread);
  if (lane.gpu_index >= 0) return absl::StrCat("GPU ", lane.gpu_index);
  return "no stream";
}

absl::StatusOr<EventFacts> FactsOf(const TimelineModel& model, const EventRef& ref) {
  if (ref.lane >= model.lanes().size()) return absl::OutOfRangeError("no such lane");
  const LaneModel& lane = *model.lanes()[ref.lane];
  ASSIGN_OR_RETURN(const FullEvent full, lane.events.At(ref.event));
  const trace::Dictionary& dictionary = model.dictionary(full.dictionary);
  const Op& op = dictionary.OpOf(full.event.op);
  const NameId name = lane.events.name(ref.event);
  EventFacts facts{.name = model.names().Short(name),
                   .full_name = model.names().Full(name),
                   .category = lane.events.category(ref.event),
                   .duration_ns = full.event.duration_ns,
                   .when = {},
                   .shape = {},
                   .stack = {},
                   .languages = {}};
  AddTimes(model, lane.facts, full.event, facts.when);
  AddShape(dictionary, op, full.event, facts.shape);
  AddStack(dictionary, full.event.stack, facts);
  return facts;
}

HoverCard CardOf(const TimelineModel& model, const EventRef& ref, size_t crowd) {
  const LaneModel& lane = *model.lanes()[ref.lane];
  HoverCard card{.title = model.names().Short(lane.events.name(ref.event)),
                 .lines = {},
                 .category = lane.events.category(ref.event)};
  std::string line = absl::StrCat(ExactTime(lane.events.duration_ns(ref.event)), " · ",
                                  LaneInWords(lane.facts.lane));
  const absl::StatusOr<FullEvent> full = lane.events.At(ref.event);
  if (full.ok() && full->event.thread != 0 && lane.facts.lane.stream >= 0) {
    absl::StrAppend(&line, " · thread ", full->event.thread);
  }
  card.lines.push_back(std::move(line));
  if (full.ok() && full->event.launch_start_ns != trace::kNoTime) {
    card.lines.push_back(absl::StrCat("launched ", LaunchText(full->event)));
  }
  if (full.ok() && full->event.bytes > 0) {
    const std::string rate = RateText(full->event.bytes, full->event.duration_ns);
    card.lines.push_back(
        absl::StrCat(BytesText(full->event.bytes), rate.empty() ? "" : " · ", rate));
  }
  if (crowd > 1)
    card.lines.push_back(absl::StrCat(base::GroupedCount(crowd), " events in this pixel"));
  return card;
}

HoverCard CardOf(const TileFrames::Spot& spot) {
  NameTable names;
  const auto brief = [&names](const std::string& name) { return names.Short(names.Intern(name)); };
  HoverCard card{.title = brief(spot.dominant_name), .lines = {}, .category = spot.column.dominant};
  const Wide extent = SpanOf(spot.extent);
  if (extent > 0) {
    card.lines.push_back(absl::StrCat(
        ShareText(static_cast<double>(spot.column.covered_ns), static_cast<double>(extent)), " of ",
        ExactTime(ClampToInt64(extent)), " busy · ", base::GroupedCount(spot.column.starts),
        spot.column.starts == 1 ? " event starts here" : " events start here"));
  }
  const std::string longest = brief(spot.longest_name);
  card.lines.push_back(
      absl::StrCat("longest ", ExactTime(spot.longest.duration_ns),
                   longest == card.title ? std::string() : absl::StrCat(" · ", longest)));
  return card;
}

HoverCard CardOf(const TimelineModel& model, const MemoryLevel& level, int64_t time_ns) {
  HoverCard card{.title = absl::StrCat(BytesText(level.held), " held"),
                 .lines = {},
                 .category = trace::Category::kMemory};
  if (level.reserved.has_value()) {
    card.lines.push_back(absl::StrCat(BytesText(*level.reserved), " reserved from the driver"));
  }
  const int64_t since = ClampToInt64(static_cast<Wide>(time_ns) - model.origin_ns());
  card.lines.push_back(absl::StrCat("at ", since < 0 ? "" : "+", ExactTime(since)));
  return card;
}

}  // namespace nanolane::desktop
