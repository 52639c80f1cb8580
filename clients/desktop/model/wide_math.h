// Times near the ends of int64 differ by more than int64 holds: differences and products of times
// go through 128 bits, and come back clamped.
#pragma once

#include <cstdint>
#include <limits>

#include "libs/timeline/columns.h"

namespace nanolane::desktop {

__extension__ using Wide = __int128;

inline int64_t ClampToInt64(Wide value) {
  constexpr Wide kLow = std::numeric_limits<int64_t>::min();
  constexpr Wide kHigh = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value < kLow ? kLow : value > kHigh ? kHigh : value);
}

inline Wide SpanOf(const timeline::Window& window) {
  return static_cast<Wide>(window.end_ns) - window.start_ns;
}

// Position of `time_ns` in pixels from the window's left edge, of `width` pixels. The subtraction
// is exact; only the difference becomes floating point.
inline double PixelOf(const timeline::Window& window, double width, int64_t time_ns) {
  const Wide offset = static_cast<Wide>(time_ns) - window.start_ns;
  return static_cast<double>(offset) / static_cast<double>(SpanOf(window)) * width;
}

// Time at `x` pixels from the window's left edge, rounded down.
inline int64_t TimeAt(const timeline::Window& window, double width, double x) {
  const double share = width > 0 ? x / width : 0;
  const double offset = share * static_cast<double>(SpanOf(window));
  const Wide whole =
      static_cast<Wide>(offset) -
      (offset < 0 && static_cast<double>(static_cast<Wide>(offset)) != offset ? 1 : 0);
  return ClampToInt64(static_cast<Wide>(window.start_ns) + whole);
}

}  // namespace nanolane::desktop
