// Where the parts of a lane's label lie in the label column, in pixels of the window: for those who
// draw them and for those who ask what is under the mouse. Pure functions.
#pragma once

#include "clients/desktop/model/row_layout.h"
#include "clients/desktop/model/screen_layout.h"

namespace nanolane::desktop {

inline constexpr double kLabelMargin = 14;     // left of a label, and right of it
inline constexpr double kDisclosureRoom = 14;  // of the triangle before a label
inline constexpr double kMarkSize = 12;        // pin and loss, right of a label
inline constexpr double kMarkGap = 4;

struct LabelBoxes {
  Rect all;                 // the part of the column that the label has for itself
  Rect title;               // text of the first line
  Rect note;                // text of the second line; no height where there is no room for one
  double disclosure_x = 0;  // middle of the triangle, in the middle of the first line
  Rect pin;
  Rect loss;
};

// The rows that do not scroll (`stuck`), or those that do, as far as they are on screen.
Rect RowsArea(const ScreenLayout& screen, const RowLayout& layout, bool stuck);

// The label of `block`: at the block's top, but in sight as long as a part of the block is.
// `marks`: how many marks stand right of the title.
LabelBoxes BoxesOf(const ScreenLayout& screen, const RowLayout& layout, const LaneBlock& block,
                   double scroll, bool pinned, bool lossy);

// The loss mark of a header whose top is at `y` on screen.
Rect HeaderLossBox(const ScreenLayout& screen, double y);

}  // namespace nanolane::desktop
