// Pixel columns of a time window: how a window is cut into them, and what a column says of the
// events in it.
//
// The edges of column i are floor(start + i * span / width) in 128-bit arithmetic, so that columns
// share edges, tile the window without gaps, and stay exact below 1 ns per column (where edges
// coincide, a column is empty of time but can still hold an instant at its edge; see Columns()).
#pragma once

#include <cstdint>

#include "libs/trace/kinds.h"

namespace nanolane::timeline {

struct Window {
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // exclusive

  int64_t span() const { return end_ns - start_ns; }
};

// Time of the left edge of column `i` of `width` (0 <= i <= width).
inline int64_t ColumnEdge(const Window& window, uint32_t width, uint32_t i) {
  __extension__ using Wide = __int128;
  const Wide span = static_cast<Wide>(window.end_ns) - window.start_ns;
  return static_cast<int64_t>(window.start_ns + span * i / width);
}

// What a column holds.
struct PixelColumn {
  int64_t covered_ns = 0;  // length of the union of the lane's spans inside the column
  uint32_t starts = 0;     // events that start inside the column
  bool present = false;    // an event starts inside the column or runs at its left edge
  // The category with the largest summed clipped duration; ties, and columns with instants alone,
  // go to the lowest category that is present. Meaningless when !present.
  trace::Category dominant = trace::Category::kOtherKernel;
};

}  // namespace nanolane::timeline
