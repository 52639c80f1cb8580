#include "clients/desktop/model/wide_spans.h"

#include <algorithm>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {

namespace {

void AddSpanAt(const SpanSource& source, const timeline::Window& window, double width,
               int64_t time_ns, double least_pixels, std::vector<WideSpan>& spans) {
  const std::optional<size_t> event = source.at(time_ns);
  if (!event.has_value() || (!spans.empty() && spans.back().event == *event)) return;
  const timeline::Window extent = source.extent(*event);
  const double from = PixelOf(window, width, extent.start_ns);
  const double to = PixelOf(window, width, extent.end_ns);
  if (to - from < least_pixels) return;
  spans.push_back({.event = *event,
                   .x0 = std::max(from, 0.0),
                   .x1 = std::min(to, width),
                   .starts_inside = from >= 0,
                   .ends_inside = to <= width});
}

}  // namespace

std::vector<WideSpan> FindWideSpans(const LaneModel& lane, uint32_t depth,
                                    const timeline::Window& window, double width,
                                    double least_pixels,
                                    std::span<const timeline::PixelColumn> columns) {
  if (lane.rows.empty()) return {};
  const SpanSource source{
      .at = [&lane, depth](int64_t time_ns) { return lane.rows.EventAt(depth, time_ns, 0); },
      .extent =
          [&lane](size_t event) {
            return timeline::Window{lane.events.start_ns(event), lane.events.end_ns(event)};
          }};
  return FindWideSpans(source, window, width, least_pixels, columns);
}

std::vector<WideSpan> FindWideSpans(const SpanSource& source, const timeline::Window& window,
                                    double width, double least_pixels,
                                    std::span<const timeline::PixelColumn> columns) {
  std::vector<WideSpan> spans;
  if (width <= 0 || columns.empty()) return spans;
  const auto count = static_cast<uint32_t>(columns.size());
  const double per_pixel = count / width;
  // A span of n columns' width fills at least n - 1 of them, from edge to edge.
  const auto least_columns = static_cast<uint32_t>(std::max(1.0, least_pixels * per_pixel - 2));
  timeline::EdgeWalker edges(window, count);
  int64_t left = edges.Next();
  uint32_t filled = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t right = edges.Next();
    const timeline::PixelColumn& column = columns[i];
    const bool full = right > left ? column.starts == 0 && column.covered_ns == right - left
                                   : column.edge_covered;
    filled = full ? filled + 1 : 0;
    // Looked up once it is long enough, then now and then: the next span may begin at an edge.
    if (filled == least_columns) {
      AddSpanAt(source, window, width, left, least_pixels, spans);
      filled = 0;
    }
    left = right;
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
