#include "clients/desktop/model/label_boxes.h"

#include <algorithm>
#include <cmath>

namespace nanolane::desktop {
namespace {

constexpr double kLine = 16;
constexpr double kTwoLines = 32;

}  // namespace

Rect RowsArea(const ScreenLayout& screen, const RowLayout& layout, bool stuck) {
  const double fixed = std::min(std::ceil(layout.stuck_height()), screen.lanes.height);
  const double right = screen.lanes.right();
  if (stuck) return {0, screen.lanes.y, right, fixed};
  return {0, screen.lanes.y + fixed, right, screen.lanes.height - fixed};
}

LabelBoxes BoxesOf(const ScreenLayout& screen, const RowLayout& layout, const LaneBlock& block,
                   double scroll, bool pinned, bool lossy) {
  const Rect area = RowsArea(screen, layout, block.y < layout.stuck_height());
  const double top = std::floor(screen.lanes.y + layout.OnScreen(block.y, scroll));
  const double height = std::min(block.height, kStreamHeight);
  LabelBoxes boxes;
  // A tall block's label stays in sight until the block ends.
  const double y = std::clamp(area.y, top, top + block.height - height);
  boxes.all = {screen.labels.x, y, screen.labels.width - 1, height};
  const bool two = height >= kTwoLines;
  const double first = two ? y + std::floor((height - kTwoLines) / 2) : y;
  const double line = two ? kLine : height;
  const double left = boxes.all.x + kLabelMargin + (block.expandable() ? kDisclosureRoom : 0);
  double right = boxes.all.right() - kLabelMargin + kMarkGap;
  const auto mark = [&](bool there) {
    if (!there) return Rect{};
    right -= kMarkSize;
    const Rect box{right, first + std::floor((line - kMarkSize) / 2), kMarkSize, kMarkSize};
    right -= kMarkGap;
    return box;
  };
  boxes.pin = mark(pinned);
  boxes.loss = mark(lossy);
  boxes.disclosure_x = boxes.all.x + kLabelMargin + 3;
  boxes.title = {left, first, std::max(0.0, right - left), line};
  const double note_right = boxes.all.right() - kLabelMargin + kMarkGap;
  boxes.note = {left, first + kLine, note_right - left, two ? kLine : 0};
  return boxes;
}

Rect HeaderLossBox(const ScreenLayout& screen, double y) {
  return {screen.lanes.right() - kLabelMargin - kMarkSize, y + (kHeaderHeight - kMarkSize) / 2,
          kMarkSize, kMarkSize};
}

}  // namespace nanolane::desktop
