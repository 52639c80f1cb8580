#include "clients/desktop/model/lane_menu.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/lane_siblings.h"

namespace nanolane::desktop {

std::optional<size_t> LaneMenu::ItemAt(double x, double y) const {
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].enabled && items[i].box.Contains(x, y)) return i;
  }
  return std::nullopt;
}

LaneMenu OpenLaneMenu(const RowLayout& layout, const LaneBlock& block, double x, double y,
                      const ScreenLayout& screen) {
  LaneMenu menu;
  menu.key = block.key;
  const LaneSiblings siblings = SiblingsOf(layout, block);
  const auto add = [&menu](LaneAction action, std::string text, bool enabled = true) {
    menu.items.push_back({action, std::move(text), enabled, {}});
  };
  if (block.expandable() && !block.expanded) add(LaneAction::kExpand, "Expand");
  if (block.expandable() && block.expanded) add(LaneAction::kCollapse, "Collapse");
  if (block.pinned) {
    add(LaneAction::kUnpin, "Unpin");
  } else {
    add(LaneAction::kPin, "Pin to the top");
  }
  add(LaneAction::kMoveUp, "Move up", siblings.self > 0);
  add(LaneAction::kMoveDown, "Move down", siblings.self + 1 < siblings.all.size());
  add(LaneAction::kHide, "Hide");
  if (layout.hidden_lanes() > 0) {
    add(LaneAction::kShowHidden, absl::StrCat("Show ", layout.hidden_lanes(), " hidden"));
  }
  const double height =
      2 * LaneMenu::kPadding + LaneMenu::kItemHeight * static_cast<double>(menu.items.size());
  menu.box = {std::clamp(x, 4.0, std::max(4.0, screen.lanes.right() - LaneMenu::kWidth - 4)),
              std::clamp(y, 4.0, std::max(4.0, screen.status.y - height - 4)), LaneMenu::kWidth,
              height};
  double top = menu.box.y + LaneMenu::kPadding;
  for (LaneMenu::Item& item : menu.items) {
    item.box = {menu.box.x + LaneMenu::kPadding, top, menu.box.width - 2 * LaneMenu::kPadding,
                LaneMenu::kItemHeight};
    top += LaneMenu::kItemHeight;
  }
  return menu;
}

void CarryOutLaneAction(LaneAction action, const std::string& key, const RowLayout& layout,
                        LaneArrangement& arrangement) {
  const auto found = std::find_if(layout.blocks().begin(), layout.blocks().end(),
                                  [&key](const LaneBlock& block) { return block.key == key; });
  if (found == layout.blocks().end()) return;
  const LaneSiblings siblings = SiblingsOf(layout, *found);
  switch (action) {
    case LaneAction::kExpand: arrangement.SetExpanded(key, true); break;
    case LaneAction::kCollapse: arrangement.SetExpanded(key, false); break;
    case LaneAction::kPin: arrangement.SetPinned(key, true); break;
    case LaneAction::kUnpin: arrangement.SetPinned(key, false); break;
    case LaneAction::kMoveUp:
      if (siblings.self > 0) MoveSibling(*found, siblings, siblings.self - 1, arrangement);
      break;
    case LaneAction::kMoveDown:
      MoveSibling(*found, siblings, siblings.self + 2, arrangement);
      break;
    case LaneAction::kHide: arrangement.Hide(key); break;
    case LaneAction::kShowHidden: arrangement.ShowHidden(); break;
  }
}

}  // namespace nanolane::desktop
