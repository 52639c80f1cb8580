#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "clients/desktop/view/panels.h"

namespace nanolane::desktop {
namespace {

struct KeyLine {
  const char* keys;
  const char* does;
};
struct KeyGroup {
  const char* title;
  std::span<const KeyLine> lines;
};

constexpr KeyLine kMove[] = {{"wheel, ctrl + wheel", "zoom at the cursor"},
                             {"W  S", "zoom in, out"},
                             {"A  D, shift + wheel", "earlier, later"},
                             {"right drag", "move"},
                             {"ctrl + drag", "zoom to a range"},
                             {"drag in the overview", "choose the window"},
                             {"right click, ctrl + ←", "back to the view before"},
                             {"ctrl + →", "and forward again"},
                             {"↑  ↓, wheel on labels", "scroll the lanes"},
                             {"end, click on LIVE", "follow what is recorded"}};
constexpr KeyLine kEvents[] = {{"click", "select, and zoom onto it"},
                               {"F", "focus on it, or on everything"},
                               {".  ,", "next, previous of its lane"},
                               {"shift + .  ,", "next, previous of its name"},
                               {"[  ]", "to its launch, and back"}};
constexpr KeyLine kMeasure[] = {{"drag on the ruler", "measure; ends snap to spans"},
                                {"M", "measure the selected event"}};
constexpr KeyLine kSearch[] = {{"/, ctrl + F", "search names and frames"},
                               {"enter, shift + enter", "next, previous hit"},
                               {"click in the legend", "show or dim a kind"},
                               {"alt + click, double click", "show that kind alone"}};
constexpr KeyLine kLanes[] = {{"click on a label", "expand, collapse"},
                              {"drag a label", "move the lane"},
                              {"right click on a label", "pin, hide, more"},
                              {"enter, nothing in view", "go to the nearest event"}};
constexpr KeyLine kWindow[] = {{"click on a chip", "choose what is shown"},
                               {"esc", "close, clear what is marked"},
                               {"?", "this list"}};

// What stands in each of the two columns.
constexpr KeyGroup kLeft[] = {{"Move", kMove}, {"Lanes", kLanes}};
constexpr KeyGroup kRight[] = {
    {"Events", kEvents}, {"Measure", kMeasure}, {"Find", kSearch}, {"Window", kWindow}};

constexpr double kLine = 22;
constexpr double kTitle = 28;
constexpr double kBetween = 12;  // groups
constexpr double kPad = 24;
constexpr double kKeyGap = 20;
constexpr double kColumnGap = 40;

struct ColumnSize {
  double keys = 0;
  double does = 0;
  double height = 0;
  double width() const { return keys + kKeyGap + does; }
};

ColumnSize SizeOf(const Fonts& fonts, std::span<const KeyGroup> groups) {
  ColumnSize size;
  size.height = kBetween * static_cast<double>(groups.size() - 1);
  for (const KeyGroup& group : groups) {
    size.height += kTitle + kLine * static_cast<double>(group.lines.size());
    for (const KeyLine& line : group.lines) {
      size.keys = std::max(size.keys, std::ceil(Painter::Width(fonts.number, line.keys)));
      size.does = std::max(size.does, std::ceil(Painter::Width(fonts.body, line.does)));
    }
  }
  return size;
}

void PaintColumn(Painter& painter, double x, double y, const ColumnSize& size,
                 std::span<const KeyGroup> groups) {
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  for (const KeyGroup& group : groups) {
    painter.Text(fonts.strong, x, y, kLine, theme.text, group.title);
    painter.HorizontalLine(x, x + size.width(), y + kLine, theme.line);
    y += kTitle;
    for (const KeyLine& line : group.lines) {
      painter.Text(fonts.number, x, y, kLine, theme.accent, line.keys);
      painter.Text(fonts.body, x + size.keys + kKeyGap, y, kLine, theme.muted, line.does);
      y += kLine;
    }
    y += kBetween;
  }
}

}  // namespace

void PaintKeys(Painter& painter, const ScreenLayout& screen) {
  const Theme& theme = painter.theme();
  const ColumnSize left = SizeOf(painter.fonts(), kLeft);
  const ColumnSize right = SizeOf(painter.fonts(), kRight);
  const Rect all{0, 0, screen.top_bar.width, screen.status.bottom()};
  painter.Fill(all, Faded(theme.background, 0.7));
  // Side by side, or one above the other in a narrow window.
  const bool beside = left.width() + right.width() + kColumnGap + 2 * kPad <= all.width;
  const double width = 2 * kPad + (beside ? left.width() + kColumnGap + right.width()
                                          : std::max(left.width(), right.width()));
  const double height = 2 * kPad + (beside ? std::max(left.height, right.height)
                                           : left.height + kBetween + right.height);
  const Rect box{std::floor((all.width - width) / 2),
                 std::max(4.0, std::floor((all.height - height) / 2)), width, height};
  PaintCard(painter, box);
  const double x = box.x + kPad;
  const double y = box.y + kPad;
  PaintColumn(painter, x, y, left, kLeft);
  if (beside) {
    PaintColumn(painter, x + left.width() + kColumnGap, y, right, kRight);
  } else {
    PaintColumn(painter, x, y + left.height + kBetween, right, kRight);
  }
}

}  // namespace nanolane::desktop
