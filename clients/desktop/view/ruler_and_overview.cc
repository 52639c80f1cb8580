#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/ruler.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/chrome.h"
#include "libs/base/time_text.h"

namespace nanolane::desktop {
namespace {

constexpr double kLabelX = 14;

}  // namespace

Rect OverviewPlot(const ScreenLayout& screen) {
  return {screen.lanes.x, screen.overview.y + 8, screen.lanes.width, screen.overview.height - 16};
}

void PaintOverview(Painter& painter, const Viewer& viewer) {
  const Theme& theme = painter.theme();
  const Rect& strip = viewer.screen().overview;
  painter.HorizontalLine(strip.x, strip.right(), strip.bottom() - 1, theme.line);
  painter.Text(painter.fonts().small, kLabelX, strip.y + 6, 18, theme.muted,
               "High-resolution data");
  const std::string length = base::FormatDuration(ClampToInt64(SpanOf(viewer.overview())));
  painter.Text(painter.fonts().small, kLabelX, strip.y + 22, 18, theme.faint, length);

  const Rect plot = OverviewPlot(viewer.screen());
  const double from = std::clamp(
      PixelOf(viewer.overview(), plot.width, viewer.viewport().shown().start_ns), 0.0, plot.width);
  const double to = std::clamp(
      PixelOf(viewer.overview(), plot.width, viewer.viewport().shown().end_ns), 0.0, plot.width);
  const bool everything = from <= 0 && to >= plot.width;
  if (everything || to <= from) return;
  // A window far narrower than a pixel still shows where it is.
  const double width = std::max(to - from, 3.0);
  const double x = std::min(plot.x + from, plot.right() - width);
  const Rect box{std::floor(x), plot.y - 4, std::ceil(width), plot.height + 8};
  painter.Fill(box, Faded(theme.accent, 0.10), 2);
  painter.Frame(box, theme.accent, 2);
}

void PaintRuler(Painter& painter, const Viewer& viewer, const TimelineModel& model) {
  const Theme& theme = painter.theme();
  const Rect& ruler = viewer.screen().ruler;
  const Rect& lanes = viewer.screen().lanes;
  painter.HorizontalLine(ruler.x, ruler.right(), ruler.bottom() - 1, theme.line);
  painter.Text(painter.fonts().small, kLabelX, ruler.y, ruler.height, theme.faint,
               "since the start");
  painter.Clip({lanes.x, ruler.y, lanes.width, ruler.height + lanes.height});
  const auto ticks =
      RulerTicks(viewer.viewport().shown(), lanes.width, kLeastTickGap, model.origin_ns());
  const Rect measured = MeasureLabel(painter.fonts(), viewer);
  for (const RulerTick& tick : ticks) {
    const double x = std::floor(lanes.x + tick.x);
    painter.VerticalLine(x, ruler.bottom() - 8, ruler.bottom(), theme.line);
    const double label = Painter::Width(painter.fonts().tick, tick.label);
    if (x + 6 + label > lanes.right()) continue;  // a cut label would say another time
    if (x + 6 + label > measured.x && x + 6 < measured.right()) continue;
    painter.Text(painter.fonts().tick, x + 6, ruler.y, ruler.height, theme.muted, tick.label);
  }
  painter.Unclip();
}

void PaintLiveBadge(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                    const Input& input) {
  if (!model.recording()) return;
  const Theme& theme = painter.theme();
  const Rect& badge = viewer.screen().live_badge;
  const bool follows = viewer.viewport().following();
  const bool hovered = badge.Contains(input.mouse_x, input.mouse_y);
  if (follows) {
    painter.Fill(badge, theme.accent, 4);
  } else {
    painter.Fill(badge, hovered ? Faded(theme.accent, 0.2) : theme.raised, 4);
    painter.Frame(badge, hovered ? theme.accent : theme.line, 4);
  }
  painter.TextCentered(painter.fonts().small, badge.x + badge.width / 2, badge.y, badge.height,
                       follows   ? theme.background
                       : hovered ? theme.text
                                 : theme.muted,
                       "LIVE");
}

}  // namespace nanolane::desktop
