#include "clients/desktop/model/label_hand.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "clients/desktop/model/lane_siblings.h"

namespace nanolane::desktop {
namespace {

const LaneBlock* BlockOf(const RowLayout& layout, const std::string& key) {
  const auto found = std::find_if(layout.blocks().begin(), layout.blocks().end(),
                                  [&key](const LaneBlock& block) { return block.key == key; });
  return found == layout.blocks().end() ? nullptr : &*found;
}

}  // namespace

Rect HiddenStrip(const ScreenLayout& screen) {
  const double height = std::min(kHiddenStripHeight, screen.labels.height);
  return {screen.labels.x, screen.labels.bottom() - height, screen.labels.width, height};
}

Input LabelHand::Step(const Input& input, const ScreenLayout& screen, const RowLayout& layout,
                      double scroll, LaneArrangement& arrangement) {
  mouse_x_ = input.mouse_x;
  mouse_y_ = input.mouse_y;
  const bool over_labels = !input.mouse_taken && screen.labels.Contains(mouse_x_, mouse_y_);
  strip_hovered_ =
      over_labels && layout.hidden_lanes() > 0 && HiddenStrip(screen).Contains(mouse_x_, mouse_y_);
  hovered_row_.reset();
  if (over_labels && !strip_hovered_ && !menu_.has_value()) {
    hovered_row_ = layout.RowOnScreen(mouse_y_ - screen.lanes.y, scroll);
  }
  Input rest = input;
  if (menu_.has_value()) {
    rest.mouse_taken = true;
    rest.pressed[static_cast<size_t>(Key::kEscape)] = 0;
    StepMenu(input, layout, arrangement);
  } else {
    const bool was_moving = move_.has_value();
    StepPress(input, screen, layout, scroll, arrangement);
    if (was_moving || move_.has_value()) {
      rest.mouse_taken = true;
      rest.pressed[static_cast<size_t>(Key::kEscape)] = 0;
    }
  }
  was_left_ = input.left_down;
  was_right_ = input.right_down;
  return rest;
}

std::optional<size_t> LabelHand::menu_item() const {
  return menu_.has_value() ? menu_->ItemAt(mouse_x_, mouse_y_) : std::nullopt;
}

void LabelHand::StepMenu(const Input& input, const RowLayout& layout,
                         LaneArrangement& arrangement) {
  if (input.Pressed(Key::kEscape) || input.wheel != 0) {
    menu_.reset();
    return;
  }
  const bool inside = menu_->box.Contains(mouse_x_, mouse_y_);
  const bool pressed = (input.left_down && !was_left_) || (input.right_down && !was_right_);
  if (pressed && !inside) {
    menu_.reset();
    return;
  }
  const std::optional<size_t> item = menu_item();
  if (!input.left_down && was_left_ && item.has_value()) {
    const LaneMenu chosen = *std::exchange(menu_, std::nullopt);
    CarryOutLaneAction(chosen.items[*item].action, chosen.key, layout, arrangement);
  }
}

void LabelHand::StepPress(const Input& input, const ScreenLayout& screen, const RowLayout& layout,
                          double scroll, LaneArrangement& arrangement) {
  if (input.right_down && !was_right_ && hovered_row_.has_value()) OpenMenu(screen, layout);
  if (input.left_down && !was_left_ && (hovered_row_.has_value() || strip_hovered_)) {
    press_ = Press{.x = mouse_x_, .y = mouse_y_, .key = {}, .strip = strip_hovered_};
    if (hovered_row_.has_value()) {
      const Row& row = layout.rows()[*hovered_row_];
      press_->kind = row.kind;
      press_->key = HasLane(row) ? layout.blocks()[row.block].key : row.group;
    }
  }
  if (!press_.has_value()) return;
  if (input.Pressed(Key::kEscape)) {
    press_.reset();
    move_.reset();
    return;
  }
  const bool far = std::hypot(mouse_x_ - press_->x, mouse_y_ - press_->y) >= kClickSlop;
  if (far || move_.has_value()) Drag(screen, layout, scroll);
  if (input.left_down) return;
  if (move_.has_value()) {
    Drop(layout, arrangement);
  } else if (!far) {
    Click(layout, arrangement);
  }
  press_.reset();
  move_.reset();
}

void LabelHand::Click(const RowLayout& layout, LaneArrangement& arrangement) const {
  if (press_->strip) return arrangement.ShowHidden();
  if (press_->kind == RowKind::kHeader) return arrangement.ToggleGroup(press_->key);
  if (press_->kind == RowKind::kApiSummary) return arrangement.ToggleApi(press_->key);
  const LaneBlock* block = BlockOf(layout, press_->key);
  if (block != nullptr && block->expandable()) {
    arrangement.SetExpanded(block->key, !block->expanded);
  }
}

void LabelHand::Drag(const ScreenLayout& screen, const RowLayout& layout, double scroll) {
  const LaneBlock* block = BlockOf(layout, press_->key);
  if (block == nullptr || press_->strip) return;
  const LaneSiblings siblings = SiblingsOf(layout, *block);
  place_ = 0;
  for (const LaneSibling& sibling : siblings.all) {
    const double middle = (sibling.y + sibling.bottom) / 2;
    const double on_screen = middle + layout.OnScreen(sibling.y, scroll) - sibling.y;
    if (mouse_y_ - screen.lanes.y >= on_screen) ++place_;
  }
  const bool last = place_ == siblings.all.size();
  move_ = Move{block->key, last ? siblings.all.back().bottom : siblings.all[place_].y};
}

void LabelHand::Drop(const RowLayout& layout, LaneArrangement& arrangement) const {
  const LaneBlock* block = BlockOf(layout, move_->key);
  if (block == nullptr) return;
  MoveSibling(*block, SiblingsOf(layout, *block), place_, arrangement);
}

void LabelHand::OpenMenu(const ScreenLayout& screen, const RowLayout& layout) {
  const Row& row = layout.rows()[*hovered_row_];
  if (!HasLane(row)) return;
  press_.reset();
  move_.reset();
  menu_ = OpenLaneMenu(layout, layout.blocks()[row.block], mouse_x_ + 2, mouse_y_ + 2, screen);
}

}  // namespace nanolane::desktop
