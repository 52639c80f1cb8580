#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/chrome.h"
#include "libs/base/time_text.h"

namespace nanolane::desktop {
namespace {

constexpr double kChipHeight = 24;
constexpr double kChipPad = 10;
constexpr double kChipGap = 8;
constexpr double kMostChipText = 220;

struct Chip {
  std::string key;
  std::string value;
  std::string extra;
};

std::string BaseName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// "python3 embed.py · 4121"
std::string ProcessText(const SessionFacts& session) {
  std::string text = BaseName(session.executable);
  if (session.command_line.size() > 1) {
    absl::StrAppend(&text, text.empty() ? "" : " ", BaseName(session.command_line[1]));
  }
  if (text.empty()) text = "process";
  if (session.pid != 0) absl::StrAppend(&text, " · ", session.pid);
  return text;
}

Chip TimeChip(const SessionFacts& session) {
  const int64_t length = ClampToInt64(static_cast<Wide>(session.end_ns) - session.start_ns);
  const std::string span = base::FormatDuration(length);
  if (!session.unix_offset_known) return {"length", span, ""};
  const auto clock = [&session](int64_t time_ns) {
    const int64_t unix_ns = ClampToInt64(static_cast<Wide>(time_ns) + session.unix_offset_ns);
    return absl::FormatTime("%H:%M:%S", absl::FromUnixNanos(unix_ns), absl::LocalTimeZone());
  };
  const int64_t unix_ns =
      ClampToInt64(static_cast<Wide>(session.start_ns) + session.unix_offset_ns);
  const std::string day =
      absl::FormatTime("%e %b %Y", absl::FromUnixNanos(unix_ns), absl::LocalTimeZone());
  const std::string from = clock(session.start_ns);
  const std::string to = clock(session.end_ns);
  return {std::string(absl::StripLeadingAsciiWhitespace(day)),
          from == to ? from : absl::StrCat(from, " – ", to), span};
}

std::vector<Chip> ChipsOf(const TimelineModel& model) {
  std::vector<Chip> chips;
  if (model.sessions().empty()) return chips;
  const SessionFacts& session = model.sessions().front();
  chips.push_back({"project", session.project.empty() ? "default" : session.project, ""});
  if (!session.host.empty()) chips.push_back({"host", session.host, ""});
  chips.push_back({"process", ProcessText(session), ""});
  if (session.events > 0) chips.push_back(TimeChip(session));
  return chips;
}

// How wide the parts of a chip are.
struct ChipWidths {
  double key = 0;
  double value = 0;
  double extra = 0;
  double all() const { return kChipPad * 2 + key + 6 + value + extra; }
};

ChipWidths WidthsOf(const Fonts& fonts, const Chip& chip) {
  return {.key = Painter::Width(fonts.body, chip.key),
          .value = std::min(Painter::Width(fonts.strong, chip.value), kMostChipText),
          .extra = chip.extra.empty() ? 0 : Painter::Width(fonts.body, chip.extra) + 8};
}

void PaintBox(Painter& painter, const Rect& box) {
  painter.Fill(box, painter.theme().raised, kRadius);
  painter.Frame(box, painter.theme().line, kRadius);
}

void PaintChip(Painter& painter, double x, double y, const Chip& chip, const ChipWidths& widths) {
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  PaintBox(painter, {x, y, widths.all(), kChipHeight});
  double at = x + kChipPad;
  painter.Text(fonts.body, at, y, kChipHeight, theme.muted, chip.key);
  at += widths.key + 6;
  painter.Text(fonts.strong, at, y, kChipHeight, theme.text, chip.value, kMostChipText);
  at += widths.value + 8;
  painter.Text(fonts.body, at, y, kChipHeight, theme.muted, chip.extra);
}

// What the stream is doing: loading, recording, complete, ended, broken.
struct State {
  std::string text;
  Rgba color = 0;
};

State StateOf(const Loaded& loaded, const Theme& theme) {
  const TimelineModel& model = loaded.model;
  if (model.phase() == TimelineModel::Phase::kFailed) return {"incomplete", theme.error};
  if (model.phase() == TimelineModel::Phase::kLoading) {
    const std::string share = ShareText(static_cast<double>(model.received_events()),
                                        static_cast<double>(model.expected_events()));
    return {absl::StrCat("loading ", share), theme.accent};
  }
  if (model.phase() == TimelineModel::Phase::kLive) {
    return loaded.failure.ok() ? State{"recording", theme.accent}
                               : State{"connection lost", theme.warning};
  }
  return {model.followed() ? "ended" : "complete", theme.muted};
}

void PaintState(Painter& painter, double x, double y, double width, const State& state) {
  PaintBox(painter, {x, y, width, kChipHeight});
  painter.Dot(x + kChipPad + 3, y + kChipHeight / 2, 3.5, state.color);
  painter.Text(painter.fonts().body, x + kChipPad + 14, y, kChipHeight, painter.theme().muted,
               state.text);
}

}  // namespace

void PaintTopBar(Painter& painter, const Viewer& viewer, const Loaded& loaded) {
  const Theme& theme = painter.theme();
  const Rect& bar = viewer.screen().top_bar;
  painter.HorizontalLine(bar.x, bar.right(), bar.bottom() - 1, theme.line);
  double x = 14;
  x += painter.Text(painter.fonts().brand, x, bar.y, bar.height, theme.text, "nano");
  x += painter.Text(painter.fonts().brand, x, bar.y, bar.height, theme.accent, "lane");
  x += 16;
  if (loaded.model.sessions().empty()) return;
  const double y = bar.y + (bar.height - kChipHeight) / 2;
  const State state = StateOf(loaded, theme);
  const double state_width = kChipPad * 2 + 14 + Painter::Width(painter.fonts().body, state.text);
  // Chips that do not fit whole are left out; the state stays.
  const double right = bar.right() - kSearchWidth - 28 - state_width - kChipGap;
  for (const Chip& chip : ChipsOf(loaded.model)) {
    const ChipWidths widths = WidthsOf(painter.fonts(), chip);
    if (x + widths.all() > right) continue;
    PaintChip(painter, x, y, chip, widths);
    x += widths.all() + kChipGap;
  }
  if (x + state_width < bar.right() - kSearchWidth - 14) {
    PaintState(painter, x, y, state_width, state);
  }
}

}  // namespace nanolane::desktop
