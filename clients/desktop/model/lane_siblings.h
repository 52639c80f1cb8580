// Which lanes a lane may change places with: the pinned ones among themselves, the others within
// their group, a stream together with its synchronizations and projected ranges. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "clients/desktop/model/row_layout.h"

namespace nanolane::desktop {

// What moves as one.
struct LaneSibling {
  std::string key;  // of the lane where it is pinned, else of its unit
  double y = 0;     // in the content, as rows
  double bottom = 0;
};

struct LaneSiblings {
  std::vector<LaneSibling> all;  // from top to bottom
  size_t self = 0;               // index of the one asked for
};

LaneSiblings SiblingsOf(const RowLayout& layout, const LaneBlock& block);

// Puts the sibling before the one that is now at `place` (all.size(): after the last).
void MoveSibling(const LaneBlock& block, const LaneSiblings& siblings, size_t place,
                 LaneArrangement& arrangement);

}  // namespace nanolane::desktop
