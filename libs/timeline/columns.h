// Pixel columns of a time window: how a window is cut into them, and what a column says of the
// events in it.
//
// The edges of column i are floor(start + i * span / width) in 128-bit arithmetic, so that columns
// share edges and tile the window without gaps at any zoom. From 1 ns per column on, every column
// has an extent [left edge, right edge). Below 1 ns per column several columns share a left edge;
// of these only the last has an extent (of 1 ns), and all of them answer for the nanosecond that
// begins at their edge, so that what runs then is seen in each of them:
//
//   span 3, width 8, edges 0 0 0 1 1 1 2 2 3
//     a span [1, 2)      . . . # # # . .     present, fully covered; 1 ns of coverage in the last #
//     an instant at 1    . . . | . . . .     present in the first column of its nanosecond alone
#pragma once

#include <cassert>
#include <cstdint>
#include <limits>

#include "libs/trace/kinds.h"

namespace nanolane::timeline {

__extension__ using Wide = __int128;

struct Window {
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // exclusive; nothing is in a window that does not end after its start

  // Saturates at int64's ends.
  int64_t span() const {
    int64_t result = 0;
    if (!__builtin_sub_overflow(end_ns, start_ns, &result)) return result;
    return end_ns > start_ns ? std::numeric_limits<int64_t>::max()
                             : std::numeric_limits<int64_t>::min();
  }
};

// Time of the left edge of column `i` of `width` (0 <= i <= width).
inline int64_t ColumnEdge(const Window& window, uint32_t width, uint32_t i) {
  const Wide span = static_cast<Wide>(window.end_ns) - window.start_ns;
  return static_cast<int64_t>(window.start_ns + span * i / width);
}

// The edges of a window from the first to the last, without a division for each.
class EdgeWalker {
 public:
  // Requires window.end_ns >= window.start_ns and width > 0.
  EdgeWalker(const Window& window, uint32_t width)
      : edge_(static_cast<uint64_t>(window.start_ns)), width_(width) {
    assert(window.end_ns >= window.start_ns && width > 0);
    const uint64_t span =
        static_cast<uint64_t>(window.end_ns) - static_cast<uint64_t>(window.start_ns);
    step_ = span / width;
    remainder_ = static_cast<uint32_t>(span % width);
  }

  // ColumnEdge(window, width, i) in the i-th call, for i = 0 … width.
  int64_t Next() {
    const uint64_t edge = edge_;
    edge_ += step_;
    owed_ += remainder_;
    if (owed_ >= width_) {
      owed_ -= width_;
      ++edge_;
    }
    return static_cast<int64_t>(edge);
  }

 private:
  uint64_t edge_;  // modulo 2^64, as int64 wraps
  uint64_t step_ = 0;
  uint64_t owed_ = 0;  // width-ths of a nanosecond
  uint32_t remainder_ = 0;
  uint32_t width_;
};

// What a column holds.
struct PixelColumn {
  // Length of the union of the lane's spans inside the column. Saturates (a column of 292 years).
  int64_t covered_ns = 0;
  // Events that start in the column; below 1 ns per column, where several columns share an edge,
  // those of its nanosecond count in the first of them. Saturates.
  uint32_t starts = 0;
  // An event starts in the column, or runs at its left edge (starts at or before, ends after it).
  bool present = false;
  // For a column without extent alone: an event runs at its edge. See CoverageShare().
  bool edge_covered = false;
  // The category with the largest summed clipped duration (overlapping spans count in full), in the
  // column's nanosecond where it has no extent. Ties, and columns with instants alone, go to the
  // lowest category that is present. Meaningless when !present.
  trace::Category dominant = trace::Category::kOtherKernel;

  bool operator==(const PixelColumn&) const = default;
};

// The share of the column's extent that is covered, 0 … 1: how solid to draw it. `extent_ns` is the
// distance of its edges; a column without extent is covered wholly or not at all.
inline double CoverageShare(const PixelColumn& column, int64_t extent_ns) {
  if (extent_ns <= 0) return column.edge_covered ? 1.0 : 0.0;
  return static_cast<double>(column.covered_ns) / static_cast<double>(extent_ns);
}

}  // namespace nanolane::timeline
