#include "clients/desktop/model/wide_spans.h"

#include <algorithm>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {

std::vector<WideSpan> FindWideSpans(const LaneModel& lane, uint32_t depth,
                                    const timeline::Window& window, double width,
                                    double least_pixels) {
  std::vector<WideSpan> spans;
  if (lane.rows.empty() || width <= 0) return spans;
  // A half-open stretch of `least_pixels` holds at least one probe.
  for (double x = 0; x < width; x += least_pixels) {
    const std::optional<size_t> event = lane.rows.EventAt(depth, TimeAt(window, width, x), 0);
    if (!event.has_value() || (!spans.empty() && spans.back().event == *event)) continue;
    const double from = PixelOf(window, width, lane.events.start_ns(*event));
    const double to = PixelOf(window, width, lane.events.end_ns(*event));
    if (to - from < least_pixels) continue;
    spans.push_back({.event = *event,
                     .x0 = std::max(from, 0.0),
                     .x1 = std::min(to, width),
                     .starts_inside = from >= 0,
                     .ends_inside = to <= width});
  }
  // A span around others is found on both sides of them.
  std::stable_sort(spans.begin(), spans.end(),
                   [](const WideSpan& a, const WideSpan& b) { return a.event < b.event; });
  spans.erase(std::unique(spans.begin(), spans.end(),
                          [](const WideSpan& a, const WideSpan& b) { return a.event == b.event; }),
              spans.end());
  std::stable_sort(spans.begin(), spans.end(),
                   [](const WideSpan& a, const WideSpan& b) { return a.x0 < b.x0; });
  return spans;
}

}  // namespace nanolane::desktop
