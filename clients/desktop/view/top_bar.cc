#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/scope_choices.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/chrome.h"
#include "libs/base/time_text.h"

namespace nanolane::desktop {
namespace {

constexpr double kChipHeight = 24;
constexpr double kChipPad = 10;
constexpr double kChipGap = 8;
constexpr double kArrowRoom = 16;
// How long a value may be: the widest at which all chips fit is taken.
constexpr std::array kMostText = {240.0, 180.0, 140.0, 110.0, 84.0};

struct Chip {
  ScopePart part = ScopePart::kProject;
  std::string key;
  std::string value;
  std::string extra;
};

// What the time picker has chosen; of all times, the session's own.
Chip TimeChip(const ScopeDesk& desk, const SessionFacts& session) {
  const TimeChoice& time = desk.scope().time;
  if (time.kind == TimeChoice::Kind::kExact) {
    return {ScopePart::kTime, "", ClockRangeText(time.exact, desk.now_unix_ns()), ""};
  }
  if (time.kind == TimeChoice::Kind::kLast) {
    const int64_t minutes = time.last_ns / 60'000'000'000;
    const std::string text = minutes < 60        ? absl::StrCat(minutes, " min")
                             : minutes < 24 * 60 ? absl::StrCat(minutes / 60, " h")
                                                 : absl::StrCat(minutes / (24 * 60), " day");
    return {ScopePart::kTime, "last", text, ""};
  }
  const int64_t length = ClampToInt64(static_cast<Wide>(session.end_ns) - session.start_ns);
  const std::string span = base::FormatDuration(length);
  if (!session.unix_offset_known) return {ScopePart::kTime, "length", span, ""};
  return {ScopePart::kTime, "", ClockRangeText(UnixExtent(session), desk.now_unix_ns()), span};
}

std::vector<Chip> ChipsOf(const ScopeDesk& desk) {
  std::vector<Chip> chips;
  const SessionFacts* session = desk.shown();
  if (session == nullptr) return chips;
  const Scope& scope = desk.scope();
  chips.push_back({ScopePart::kProject, "project", scope.project.value_or("all"), ""});
  const std::string host = scope.host.value_or("all");
  chips.push_back({ScopePart::kHost, "host", host.empty() ? "not known" : host, ""});
  chips.push_back({ScopePart::kProcess, "process", ProcessText(*session), ""});
  chips.push_back({ScopePart::kGpu, "GPU", scope.gpu.value_or("all"), ""});
  chips.push_back(TimeChip(desk, *session));
  return chips;
}

// How wide the parts of a chip are.
struct ChipWidths {
  double key = 0;
  double value = 0;
  double extra = 0;
  double all() const { return kChipPad * 2 + key + value + extra + kArrowRoom; }
};

ChipWidths WidthsOf(const Fonts& fonts, const Chip& chip, double most, bool with_extra) {
  return {
      .key = chip.key.empty() ? 0 : Painter::Width(fonts.body, chip.key) + 6,
      .value = std::min(Painter::Width(fonts.strong, chip.value), most),
      .extra = chip.extra.empty() || !with_extra ? 0 : Painter::Width(fonts.body, chip.extra) + 8};
}

void PaintBox(Painter& painter, const Rect& box, bool hot) {
  painter.Fill(box, painter.theme().raised, kRadius);
  painter.Frame(box, hot ? painter.theme().muted : painter.theme().line, kRadius);
}

void PaintChip(Painter& painter, const Rect& box, const Chip& chip, const ChipWidths& widths,
               bool hot, bool open) {
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  PaintBox(painter, box, hot || open);
  if (open) painter.Frame(box, theme.accent, kRadius);
  double at = box.x + kChipPad;
  painter.Text(fonts.body, at, box.y, box.height, theme.muted, chip.key);
  at += widths.key;
  painter.Text(fonts.strong, at, box.y, box.height, theme.text, chip.value, widths.value + 0.5);
  at += widths.value + 8;
  if (widths.extra > 0) painter.Text(fonts.body, at, box.y, box.height, theme.muted, chip.extra);
  painter.Disclosure(box.right() - kChipPad - 3, box.y + box.height / 2, true,
                     hot || open ? theme.text : theme.muted);
}

// "12 s", "1:23", "1:02:03"
std::string ElapsedText(int64_t ns) {
  const int64_t seconds = std::max<int64_t>(ns, 0) / 1'000'000'000;
  if (seconds < 60) return absl::StrCat(seconds, " s");
  if (seconds < 3'600) return absl::StrFormat("%d:%02d", seconds / 60, seconds % 60);
  return absl::StrFormat("%d:%02d:%02d", seconds / 3'600, seconds / 60 % 60, seconds % 60);
}

// "832", "12.4 k", "1.2 M" events/s
std::string EventRateText(double per_second) {
  if (per_second < 1'000) return absl::StrFormat("%.0f events/s", per_second);
  if (per_second < 1e6) return absl::StrFormat("%.1f k events/s", per_second / 1e3);
  return absl::StrFormat("%.1f M events/s", per_second / 1e6);
}

// What the stream is doing: loading, recording, complete, ended, broken.
struct State {
  std::string text;
  Rgba color = 0;
  bool live = false;
};

State StateOf(const Viewer& viewer, const Loaded& loaded, const Theme& theme) {
  const TimelineModel& model = loaded.model;
  if (!loaded.attempt.opening.empty()) return {"opening", theme.accent};
  if (model.phase() == TimelineModel::Phase::kFailed) return {"incomplete", theme.error};
  if (model.recording() && !loaded.failure.ok()) return {"connection lost", theme.warning};
  if (model.phase() == TimelineModel::Phase::kLoading) {
    const std::string share = ShareText(static_cast<double>(model.received_events()),
                                        static_cast<double>(model.expected_events()));
    return {absl::StrCat("loading ", share), theme.accent};
  }
  if (model.phase() == TimelineModel::Phase::kLive) {
    const SessionFacts& session = model.sessions().front();
    const int64_t length = ClampToInt64(static_cast<Wide>(session.end_ns) - session.start_ns);
    return {absl::StrCat("live ", ElapsedText(length), " · ",
                         EventRateText(viewer.events_per_second())),
            theme.accent, true};
  }
  return {model.followed() ? "ended" : "complete", theme.muted};
}

void PaintState(Painter& painter, double x, double y, double width, const State& state) {
  const Rect box{x, y, width, kChipHeight};
  PaintBox(painter, box, false);
  if (state.live) painter.Fill(box, Faded(state.color, 0.12), kRadius);
  painter.Dot(x + kChipPad + 3, y + kChipHeight / 2, 3.5, state.color);
  painter.Text(painter.fonts().body, x + kChipPad + 14, y, kChipHeight,
               state.live ? painter.theme().text : painter.theme().muted, state.text);
}

}  // namespace

ScopeChips PaintTopBar(Painter& painter, const Viewer& viewer, const Loaded& loaded,
                       const ScopeDesk& desk, const Pointer& pointer) {
  ScopeChips places;
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  const Rect& bar = viewer.screen().top_bar;
  painter.HorizontalLine(bar.x, bar.right(), bar.bottom() - 1, theme.line);
  double x = 14;
  x += painter.Text(fonts.brand, x, bar.y, bar.height, theme.text, "nano");
  x += painter.Text(fonts.brand, x, bar.y, bar.height, theme.accent, "lane");
  x += 16;
  if (loaded.model.sessions().empty()) return places;
  const double y = bar.y + (bar.height - kChipHeight) / 2;
  const State state = StateOf(viewer, loaded, theme);
  const double state_width = kChipPad * 2 + 14 + Painter::Width(fonts.body, state.text);
  const double right = bar.right() - kSearchWidth - 28 - state_width - kChipGap;
  const std::vector<Chip> chips = ChipsOf(desk);
  // The widest values at which all fit; the time's length goes first.
  double most = kMostText.back();
  bool with_extra = false;
  for (size_t step = 0; step < 2 * kMostText.size(); ++step) {
    double end = x;
    for (const Chip& chip : chips) {
      end += WidthsOf(fonts, chip, kMostText[step / 2], step % 2 == 0).all() + kChipGap;
    }
    if (end > right) continue;
    most = kMostText[step / 2];
    with_extra = step % 2 == 0;
    break;
  }
  // Chips that do not fit whole are left out; the state stays.
  for (const Chip& chip : chips) {
    const ChipWidths widths = WidthsOf(fonts, chip, most, with_extra);
    if (x + widths.all() > right) continue;
    const Rect box{x, y, widths.all(), kChipHeight};
    PaintChip(painter, box, chip, widths, pointer.In(box), desk.picker().part() == chip.part);
    places[static_cast<size_t>(chip.part)] = box;
    x += widths.all() + kChipGap;
  }
  if (x + state_width < bar.right() - kSearchWidth - 14) {
    PaintState(painter, x, y, state_width, state);
  }
  return places;
}

}  // namespace nanolane::desktop
