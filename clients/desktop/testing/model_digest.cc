#include "clients/desktop/testing/model_digest.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/event_facts.h"

namespace nanolane::desktop {
namespace {

constexpr size_t kWidth = 97;

void AddColumns(const LaneModel& lane, const timeline::Window& window, std::string& line) {
  if (window.end_ns <= window.start_ns) return;
  if (lane.rows.is_memory()) {
    std::vector<timeline::LevelColumn> levels(kWidth);
    lane.rows.held().Columns(window, levels);
    for (const auto& level : levels) {
      absl::StrAppend(&line, " ", level.known, "/", level.lowest, "/", level.highest, "/",
                      level.last, "/", level.changes);
    }
  }
  for (uint32_t depth = 0; depth < lane.rows.depth(); ++depth) {
    std::vector<timeline::PixelColumn> columns(kWidth);
    lane.rows.Columns(depth, window, columns);
    for (const auto& column : columns) {
      absl::StrAppend(&line, " ", column.covered_ns, "/", column.starts, "/", column.present, "/",
                      column.present ? static_cast<int>(column.dominant) : 0);
    }
    absl::StrAppend(&line, " busy ", lane.rows.Covered(depth, window));
  }
  absl::StrAppend(&line, " count ", lane.rows.Count(window));
}

std::string LineOf(const TimelineModel& model, const LaneModel& lane, size_t index) {
  std::string line =
      absl::StrCat("lane ", lane.facts.label, " ", lane.facts.events, " of ", lane.events.size(),
                   " from ", lane.facts.start_ns, " to ", lane.facts.end_ns, " kinds ",
                   lane.categories, " rows ", lane.rows.depth(), " at ", index);
  const timeline::Window all = model.extent();
  const int64_t span = all.end_ns - all.start_ns;
  AddColumns(lane, all, line);
  AddColumns(lane, {all.start_ns + span / 3, all.start_ns + span / 2}, line);
  AddColumns(lane, {all.start_ns + span / 2, all.start_ns + span / 2 + 50}, line);
  return line;
}

std::string LineOf(const TimelineModel& model, const EventRef& ref) {
  const LaneModel& lane = *model.lanes()[ref.lane];
  std::string line = absl::StrCat("event ", lane.facts.label, " ", lane.events.start_ns(ref.event),
                                  " row ", lane.rows.DepthOf(ref.event));
  const absl::StatusOr<EventFacts> facts = FactsOf(model, ref);
  if (!facts.ok()) return absl::StrCat(line, " ", facts.status().ToString());
  absl::StrAppend(&line, " ", facts->full_name, " ", facts->duration_ns, " ",
                  static_cast<int>(facts->category));
  for (const Fact& fact : facts->when) absl::StrAppend(&line, " ", fact.key, "=", fact.value);
  for (const Fact& fact : facts->shape) absl::StrAppend(&line, " ", fact.key, "=", fact.value);
  return line;
}

}  // namespace

std::vector<std::string> DigestOf(const TimelineModel& model) {
  std::vector<std::string> lines;
  for (const SessionFacts& session : model.sessions()) {
    lines.push_back(absl::StrCat(
        "session ", session.id, " ", session.events, " of ", model.received_events(), " from ",
        session.start_ns, " to ", session.end_ns, " ended ", session.ended, " lost ",
        model.lost_events(), " extent ", model.extent().start_ns, " ", model.extent().end_ns));
  }
  for (size_t lane = 0; lane < model.lanes().size(); ++lane) {
    lines.push_back(LineOf(model, *model.lanes()[lane], lane));
    for (size_t i = 0; i < model.lanes()[lane]->events.size(); ++i) {
      lines.push_back(LineOf(model, EventRef{lane, i}));
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace nanolane::desktop
