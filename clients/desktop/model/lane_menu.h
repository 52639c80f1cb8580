// The menu that a right click on a lane's label opens: what it offers, where it lies, and what its
// items do. Thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clients/desktop/model/row_layout.h"
#include "clients/desktop/model/screen_layout.h"

namespace nanolane::desktop {

enum class LaneAction : uint8_t {
  kExpand,
  kCollapse,
  kPin,
  kUnpin,
  kMoveUp,
  kMoveDown,
  kHide,
  kShowHidden,
};

struct LaneMenu {
  struct Item {
    LaneAction action = LaneAction::kHide;
    std::string text;
    bool enabled = true;
    Rect box;
  };
  static constexpr double kWidth = 184;
  static constexpr double kItemHeight = 28;
  static constexpr double kPadding = 4;

  std::string key;  // the lane's
  Rect box;
  std::vector<Item> items;

  // The enabled item under a point of the window.
  std::optional<size_t> ItemAt(double x, double y) const;
};

// The menu of `block`, opened at (x, y), inside the window.
LaneMenu OpenLaneMenu(const RowLayout& layout, const LaneBlock& block, double x, double y,
                      const ScreenLayout& screen);

// Does it to the lane of that key; nothing where it is gone.
void CarryOutLaneAction(LaneAction action, const std::string& key, const RowLayout& layout,
                        LaneArrangement& arrangement);

}  // namespace nanolane::desktop
