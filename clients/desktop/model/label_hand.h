// From the mouse over the label column to changes of the arrangement of lanes.
//
// A click on a header folds its group, on a lane's label expands or collapses it, on a summary of
// calls shows or hides them, on the strip at the bottom brings back what is hidden. A drag moves a
// label among its siblings. A right click opens a menu, which has the mouse until it closes: by a
// choice, a click beside it, or escape. Thread-compatible.
#pragma once

#include <optional>
#include <string>

#include "clients/desktop/model/input.h"
#include "clients/desktop/model/lane_menu.h"
#include "clients/desktop/model/row_layout.h"
#include "clients/desktop/model/screen_layout.h"

namespace nanolane::desktop {

inline constexpr double kHiddenStripHeight = 28;
// At the bottom of the labels, over them: there while a lane is hidden.
Rect HiddenStrip(const ScreenLayout& screen);

class LabelHand {
 public:
  static constexpr double kClickSlop = 5;  // pixels that part a click from a drag

  // One frame. Returns the input for everybody else: without what was taken here.
  Input Step(const Input& input, const ScreenLayout& screen, const RowLayout& layout, double scroll,
             LaneArrangement& arrangement);

  const std::optional<LaneMenu>& menu() const { return menu_; }
  std::optional<size_t> menu_item() const;  // under the mouse

  // A label that is being moved.
  struct Move {
    std::string key;  // of the lane
    double line = 0;  // where it would go: y in the content
  };
  const std::optional<Move>& move() const { return move_; }

  // The row whose label is under the mouse, and whether the strip of hidden lanes is.
  const std::optional<size_t>& hovered_row() const { return hovered_row_; }
  bool strip_hovered() const { return strip_hovered_; }

 private:
  void StepMenu(const Input& input, const RowLayout& layout, LaneArrangement& arrangement);
  void StepPress(const Input& input, const ScreenLayout& screen, const RowLayout& layout,
                 double scroll, LaneArrangement& arrangement);
  void Click(const RowLayout& layout, LaneArrangement& arrangement) const;
  void Drag(const ScreenLayout& screen, const RowLayout& layout, double scroll);
  void Drop(const RowLayout& layout, LaneArrangement& arrangement) const;
  void OpenMenu(const ScreenLayout& screen, const RowLayout& layout);

  // What the left button went down on: the row's identity, since rows come and go.
  struct Press {
    double x = 0;
    double y = 0;
    RowKind kind = RowKind::kHeader;
    std::string key;  // of the lane, the group or the session
    bool strip = false;
  };

  std::optional<LaneMenu> menu_;
  std::optional<Press> press_;
  std::optional<Move> move_;
  size_t place_ = 0;  // among the siblings of what is moved
  std::optional<size_t> hovered_row_;
  bool strip_hovered_ = false;
  double mouse_x_ = -1;
  double mouse_y_ = -1;
  bool was_left_ = false;
  bool was_right_ = false;
};

}  // namespace nanolane::desktop
