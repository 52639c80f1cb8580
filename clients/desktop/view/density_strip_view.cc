#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "clients/desktop/model/density_strip.h"
#include "clients/desktop/model/scope_choices.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/chrome.h"
#include "clients/desktop/view/panels.h"
#include "libs/base/number_text.h"
#include "libs/base/time_text.h"

namespace nanolane::desktop {
namespace {

constexpr double kLabelX = 14;
constexpr double kLeastBar = 2;       // pixels: what is there is seen
constexpr double kLeastScale = 0.02;  // busy share that fills the strip's height at least
constexpr double kTickApart = 7;      // pixels between two marks of losses
constexpr double kCardLine = 17;
constexpr double kCardPad = 12;
constexpr int64_t kDayNs = int64_t{86'400} * 1'000'000'000;

std::string Local(const char* format, int64_t unix_ns) {
  return absl::FormatTime(format, absl::FromUnixNanos(unix_ns), absl::LocalTimeZone());
}

// Short enough for the label column.
std::string RangeText(const Viewer& viewer, const ScopeDesk& desk) {
  const Wide span = SpanOf(viewer.overview());
  const std::string length = base::FormatDuration(ClampToInt64(span));
  const SessionFacts* shown = desk.shown();
  if (shown == nullptr || !shown->unix_offset_known) return length;
  const timeline::Window window = desk.ToUnix(viewer.overview());
  if (span >= kDayNs) {
    return absl::StrCat(Local("%d %b %H:%M", window.start_ns), " – ",
                        Local("%d %b %H:%M", window.end_ns));
  }
  if (span < int64_t{60} * 1'000'000'000) {
    return absl::StrCat(Local("%H:%M:%S", window.start_ns), " · ", length);
  }
  return absl::StrCat(Local("%H:%M:%S", window.start_ns), " – ", Local("%H:%M:%S", window.end_ns));
}

void PaintBars(Painter& painter, const Rect& plot, const std::vector<StripColumn>& columns) {
  // The busiest column is as high as the strip: it says where data lies, not how much is too much.
  double highest = kLeastScale;
  for (const StripColumn& column : columns) highest = std::max(highest, column.busy);
  const Rgba color = Faded(painter.theme().accent, 200.0 / 255);
  const double width = plot.width / static_cast<double>(columns.size());
  const auto height_of = [&](const StripColumn& column) {
    const double height = std::floor(column.busy / highest * plot.height);
    return std::max(column.present ? kLeastBar : 0.0, height);
  };
  for (size_t i = 0; i < columns.size();) {
    const double height = height_of(columns[i]);
    size_t end = i + 1;
    while (end < columns.size() && height_of(columns[end]) == height) ++end;
    if (height > 0) {
      const double x = plot.x + static_cast<double>(i) * width;
      painter.Fill({x, plot.bottom() - height, static_cast<double>(end - i) * width, height},
                   color);
    }
    i = end;
  }
}

void PaintLossTicks(Painter& painter, const Rect& plot, const std::vector<StripColumn>& columns) {
  const double width = plot.width / static_cast<double>(columns.size());
  double last = -kTickApart;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].losses == 0) continue;
    const double x = (static_cast<double>(i) + 0.5) * width;
    if (x - last < kTickApart) continue;
    last = x;
    painter.LossTick(plot.x + x, plot.y - 5, painter.theme().warning);
  }
}

// The window in sight, or one that is being marked.
void PaintBox(Painter& painter, const Rect& plot, double from, double to) {
  // A window far narrower than a pixel still shows where it is.
  const double width = std::max(to - from, 3.0);
  const double x = std::min(plot.x + from, plot.right() - width);
  const Rect box{std::floor(x), plot.y - 4, std::ceil(width), plot.height + 8};
  painter.Fill(box, Faded(painter.theme().accent, 0.10), 2);
  painter.Frame(box, painter.theme().accent, 2);
}

struct Part {
  double from = 0;
  double to = 0;
};

Part PartOf(const Viewer& viewer, const Rect& plot, const timeline::Window& window) {
  const auto at = [&](int64_t time_ns) {
    return std::clamp(PixelOf(viewer.overview(), plot.width, time_ns), 0.0, plot.width);
  };
  return {at(window.start_ns), at(window.end_ns)};
}

// Where the session in sight lies among others.
void PaintShown(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                const Rect& plot) {
  const Part part = PartOf(viewer, plot, model.extent());
  const double width = std::max(part.to - part.from, 3.0);
  const Rect under{std::floor(plot.x + part.from), plot.bottom() + 3, std::ceil(width), 2};
  painter.Fill(under, painter.theme().accent);
}

}  // namespace

Rect OverviewPlot(const ScreenLayout& screen) {
  return {screen.lanes.x, screen.overview.y + 8, screen.lanes.width, screen.overview.height - 16};
}

void PaintOverview(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                   const ScopeDesk& desk) {
  const Theme& theme = painter.theme();
  const Rect& strip = viewer.screen().overview;
  painter.HorizontalLine(strip.x, strip.right(), strip.bottom() - 1, theme.line);
  painter.Text(painter.fonts().small, kLabelX, strip.y + 6, 18, theme.muted,
               "High-resolution data");
  painter.Text(painter.fonts().small, kLabelX, strip.y + 22, 18, theme.faint,
               RangeText(viewer, desk), kLabelWidth - kLabelX - 8);

  const Rect plot = OverviewPlot(viewer.screen());
  painter.Clip({plot.x, strip.y, plot.width, strip.height});
  if (desk.density() != nullptr) {
    const auto count = static_cast<size_t>(std::lround(plot.width * viewer.device_scale()));
    const std::vector<StripColumn> columns =
        StripColumns(desk.density()->layers, desk.ToUnix(viewer.overview()), count);
    if (desk.StripFromServer(plot.width)) PaintBars(painter, plot, columns);
    PaintLossTicks(painter, plot, columns);
  }
  if (desk.StripOfSeveral()) PaintShown(painter, viewer, model, plot);
  if (desk.selected().empty()) {
    painter.TextCentered(painter.fonts().body, plot.x + plot.width / 2, strip.y, strip.height,
                         theme.muted, "nothing was recorded in this range of time");
  }
  const std::optional<Band> band = viewer.navigator().band();
  const Part sight = PartOf(viewer, plot, viewer.viewport().shown());
  if (band.has_value() && viewer.navigator().on_overview()) {
    PaintBox(painter, plot, band->from, band->to);
  } else if (sight.to > sight.from && !(sight.from <= 0 && sight.to >= plot.width)) {
    PaintBox(painter, plot, sight.from, sight.to);
  }
  painter.Unclip();
}

void PaintOverviewCard(Painter& painter, const Viewer& viewer, const ScopeDesk& desk,
                       const Input& input) {
  const Rect plot = OverviewPlot(viewer.screen());
  const Rect& strip = viewer.screen().overview;
  const Rect hot{plot.x, strip.y, plot.width, strip.height};
  if (!hot.Contains(input.mouse_x, input.mouse_y) || viewer.navigator().dragging()) return;
  if (desk.density() == nullptr || input.mouse_taken) return;
  const double at = input.mouse_x - plot.x;
  const timeline::Window& over = viewer.overview();
  // As wide as a mark of losses, so that each can be hit.
  const timeline::Window near{TimeAt(over, plot.width, at - kTickApart / 2),
                              TimeAt(over, plot.width, at + kTickApart / 2)};
  const timeline::Window unix_near = desk.ToUnix(near);
  const StripPart part = StripPartOf(desk.density()->layers, unix_near);
  const SessionFacts* shown = desk.shown();
  const bool here = shown != nullptr && part.window.end_ns >= UnixExtent(*shown).start_ns &&
                    part.window.start_ns <= UnixExtent(*shown).end_ns;
  const SessionFacts* other = here ? nullptr : desk.OtherIn(unix_near);
  const SessionFacts* there = here ? shown : other;

  std::string title =
      shown != nullptr && shown->unix_offset_known
          ? Local("%H:%M:%E3S", desk.ToUnix({TimeAt(over, plot.width, at), 0}).start_ns)
          : base::FormatDuration(ClampToInt64(static_cast<Wide>(TimeAt(over, plot.width, at)) -
                                              (shown == nullptr ? 0 : shown->start_ns)));
  std::vector<std::pair<std::string, Rgba>> lines;
  const Theme& theme = painter.theme();
  const std::string length = base::FormatDuration(ClampToInt64(SpanOf(part.window)));
  lines.emplace_back(part.events == 0
                         ? "no events"
                         : absl::StrCat(base::GroupedCount(part.events), " events in ", length),
                     theme.muted);
  if (part.losses > 0) {
    lines.emplace_back(absl::StrCat(base::GroupedCount(part.losses), " events lost here"),
                       theme.warning);
    if (there != nullptr) {
      for (const trace::Loss& loss : there->losses) {
        lines.emplace_back(absl::StrCat(base::GroupedCount(loss.count), " in all: ", loss.reason),
                           theme.muted);
      }
    }
  }
  if (other != nullptr)
    lines.emplace_back(absl::StrCat("click opens ", ProcessText(*other)), theme.accent);

  double width = Painter::Width(painter.fonts().strong, title);
  for (const auto& [line, color] : lines) {
    width = std::max(width, Painter::Width(painter.fonts().number, line));
  }
  width = std::min(std::ceil(width), 420.0);
  const double height = kCardPad * 2 - 4 + kCardLine * static_cast<double>(1 + lines.size());
  const double x =
      std::clamp(std::floor(input.mouse_x) + 14, 8.0,
                 std::max(8.0, viewer.screen().top_bar.width - width - 2 * kCardPad - 8));
  const Rect box{x, strip.bottom() + 6, width + 2 * kCardPad, height};
  PaintCard(painter, box);
  double y = box.y + kCardPad - 2;
  painter.Text(painter.fonts().strong, box.x + kCardPad, y, kCardLine, theme.text, title,
               width + 1);
  for (const auto& [line, color] : lines) {
    y += kCardLine;
    painter.Text(painter.fonts().number, box.x + kCardPad, y, kCardLine, color, line, width + 1);
  }
}

}  // namespace nanolane::desktop
