// Spans that are wide enough on screen to get borders and a name of their own. The pixel columns
// already carry their exact colour; these are what is drawn over them.
#pragma once

#include <cstddef>
#include <cstdint>
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

// The spans of row `depth` of `lane` that are at least `least_pixels` wide in `window` drawn over
// `width` pixels, from left to right. Of spans that overlap, the innermost is sure to be found.
// O(width / least_pixels * log n): the row is probed, its events are not walked.
std::vector<WideSpan> FindWideSpans(const LaneModel& lane, uint32_t depth,
                                    const timeline::Window& window, double width,
                                    double least_pixels);

}  // namespace nanolane::desktop
