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
