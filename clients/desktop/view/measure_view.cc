#include <algorithm>
#include <cmath>

#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/chrome.h"

namespace nanolane::desktop {

namespace {

// Where the range lies on screen, cut a little outside the lanes.
Rect RangeOf(const Viewer& viewer, const Window& range) {
  const Rect& lanes = viewer.screen().lanes;
  const Rect& ruler = viewer.screen().ruler;
  const Window& shown = viewer.viewport().shown();
  const double from = PixelOf(shown, lanes.width, range.start_ns);
  const double to = PixelOf(shown, lanes.width, range.end_ns);
  const double x0 = std::floor(lanes.x + std::clamp(from, -2.0, lanes.width + 2));
  const double x1 = std::ceil(lanes.x + std::clamp(to, -2.0, lanes.width + 2));
  return {x0, ruler.y, std::max(x1 - x0, 1.0), ruler.height + lanes.height};
}

std::string LengthOf(const Window& range) { return ExactTime(ClampToInt64(SpanOf(range))); }

}  // namespace

// The length stands inside the range where there is room, else beside it; where it is out of sight,
// at the edge behind which it lies.
Rect MeasureLabel(const Fonts& fonts, const Viewer& viewer) {
  const std::optional<Window>& range = viewer.measured();
  if (!range.has_value()) return {};
  const Rect& lanes = viewer.screen().lanes;
  const Rect& ruler = viewer.screen().ruler;
  const Rect box = RangeOf(viewer, *range);
  const double room = std::ceil(Painter::Width(fonts.number, LengthOf(*range))) + 16;
  const double left = std::max(box.x, lanes.x);
  const double right = std::min(box.right(), lanes.right());
  double x = (left + right - room) / 2;
  if (right - left < room) x = box.right() + 4;
  if (right - left < room && x + room > lanes.right()) x = box.x - room - 4;
  x = std::floor(std::clamp(x, lanes.x + 4, std::max(lanes.x + 4, lanes.right() - room - 4)));
  return {x, ruler.y + 4, room, ruler.height - 9};
}

void PaintMeasure(Painter& painter, const Viewer& viewer) {
  const std::optional<Window>& range = viewer.measured();
  if (!range.has_value()) return;
  const Theme& theme = painter.theme();
  const Rect& lanes = viewer.screen().lanes;
  const Rect& ruler = viewer.screen().ruler;
  const Rect box = RangeOf(viewer, *range);
  painter.Clip({lanes.x, ruler.y, lanes.width, ruler.height + lanes.height});
  painter.Fill({box.x, ruler.y, box.width, ruler.height - 1}, Faded(theme.accent, 0.22));
  painter.Fill({box.x, lanes.y, box.width, lanes.height}, Faded(theme.accent, 0.06));
  painter.VerticalLine(box.x, ruler.y, lanes.bottom(), theme.accent);
  painter.VerticalLine(box.right() - 1, ruler.y, lanes.bottom(), theme.accent);
  const Rect label = MeasureLabel(painter.fonts(), viewer);
  painter.Fill(label, theme.accent, 4);
  painter.Text(painter.fonts().number, label.x + 8, label.y, label.height, theme.background,
               LengthOf(*range));
  painter.Unclip();
}

}  // namespace nanolane::desktop
