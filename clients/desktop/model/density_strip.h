// From the server's density bins to the columns of the strip: how busy the devices were in each
// pixel of any window, whether something lies there, and what was lost.
//
// Bins are exact for their width. A bin narrower than a column adds its share to the columns that
// it overlaps, one that is wider fills all of them: the strip shows where data lies as finely as
// the server knows it. No bin that holds something leaves its columns empty. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libs/timeline/columns.h"

namespace nanolane::desktop {

struct DensityBin {
  int64_t index = 0;
  uint64_t events = 0;   // of all kinds, that start in the bin
  uint64_t busy_ns = 0;  // of devices' work; what runs at once adds up
  uint64_t losses = 0;   // events that were lost at a time in the bin
};

// Bins of one width, 1 << level ns of Unix time, ascending.
struct DensityLayer {
  uint32_t level = 0;
  std::vector<DensityBin> bins;
};

struct StripColumn {
  double busy = 0;  // devices' busy time over the column's length; above 1 where work overlaps
  uint64_t events = 0;
  uint64_t losses = 0;
  bool present = false;
};

// `count` columns over `window` (Unix time; columns' edges as timeline::ColumnEdge). Counts are
// given to the first column in the window that a bin overlaps, so that the columns of a window add
// up to the bins in it. O(bins + columns), and for bins wider than a column their columns.
std::vector<StripColumn> StripColumns(const std::vector<DensityLayer>& layers,
                                      const timeline::Window& window, size_t count);

// What the bins that overlap `part` hold together, and from where to where they reach.
struct StripPart {
  timeline::Window window;
  uint64_t events = 0;
  uint64_t losses = 0;
};
StripPart StripPartOf(const std::vector<DensityLayer>& layers, const timeline::Window& part);

}  // namespace nanolane::desktop
