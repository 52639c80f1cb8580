#include <algorithm>
#include <cmath>

#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/chrome.h"

namespace nanolane::desktop {

void PaintMeasure(Painter& painter, const Viewer& viewer) {
  const std::optional<Window>& range = viewer.measured();
  if (!range.has_value()) return;
  const Theme& theme = painter.theme();
  const Rect& lanes = viewer.screen().lanes;
  const Rect& ruler = viewer.screen().ruler;
  const Window& shown = viewer.viewport().shown();
  const double from = PixelOf(shown, lanes.width, range->start_ns);
  const double to = PixelOf(shown, lanes.width, range->end_ns);
  const double x0 = std::floor(lanes.x + std::clamp(from, -2.0, lanes.width + 2));
  const double x1 = std::ceil(lanes.x + std::clamp(to, -2.0, lanes.width + 2));

  painter.Clip({lanes.x, ruler.y, lanes.width, ruler.height + lanes.height});
  const double width = std::max(x1 - x0, 1.0);
  painter.Fill({x0, ruler.y, width, ruler.height - 1}, Faded(theme.accent, 0.22));
  painter.Fill({x0, lanes.y, width, lanes.height}, Faded(theme.accent, 0.06));
  painter.VerticalLine(x0, ruler.y, lanes.bottom(), theme.accent);
  painter.VerticalLine(x0 + width - 1, ruler.y, lanes.bottom(), theme.accent);

  // The length: inside where there is room, else beside the range; where it is out of sight, at
  // the edge behind which it lies.
  const std::string length = ExactTime(ClampToInt64(SpanOf(*range)));
  const double room = Painter::Width(painter.fonts().number, length) + 16;
  double x = (std::max(x0, lanes.x) + std::min(x0 + width, lanes.right()) - room) / 2;
  const double inside = std::min(x0 + width, lanes.right()) - std::max(x0, lanes.x);
  if (inside < room) x = x0 + width + 4;
  if (inside < room && x + room > lanes.right()) x = x0 - room - 4;
  x = std::floor(std::clamp(x, lanes.x + 4, lanes.right() - room - 4));
  const Rect chip{x, ruler.y + 4, room, ruler.height - 9};
  painter.Fill(chip, theme.accent, 4);
  painter.Text(painter.fonts().number, chip.x + 8, chip.y, chip.height, theme.background, length);
  painter.Unclip();
}

}  // namespace nanolane::desktop
