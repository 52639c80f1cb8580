// Spans that are wide enough on screen to get borders and a name of their own. The pixel columns
// already carry their exact colour; these are what is drawn over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

struct WideSpan {
  size_t event = 0;  // of the lane
  double x0 = 0;     // pixels from the window's left edge, cut to the window
  double x1 = 0;
  bool starts_inside = true;  // the span's own edge is in sight, not the window's
  bool ends_inside = true;
};

// The spans of row `depth` of `lane` that are at least `least_pixels` (4 or more) wide in `window`
// drawn over `width` pixels, from left to right. `columns` are the row's pixel columns, as many as
// there are physical pixels: a wide span fills some of them alone, and only there is one looked up,
// so that a crowded row costs a walk over its columns and nothing more. Of spans that overlap, the
// innermost is sure to be found.
std::vector<WideSpan> FindWideSpans(const LaneModel& lane, uint32_t depth,
                                    const timeline::Window& window, double width,
                                    double least_pixels,
                                    std::span<const timeline::PixelColumn> columns);

// The same for spans of any other kind, by number.
struct SpanSource {
  std::function<std::optional<size_t>(int64_t time_ns)> at;  // the innermost that runs then
  std::function<timeline::Window(size_t span)> extent;
};
std::vector<WideSpan> FindWideSpans(const SpanSource& source, const timeline::Window& window,
                                    double width, double least_pixels,
                                    std::span<const timeline::PixelColumn> columns);

}  // namespace nanolane::desktop
