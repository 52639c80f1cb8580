#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "clients/desktop/model/event_facts.h"
#include "clients/desktop/view/panels.h"

namespace nanolane::desktop {
namespace {

constexpr double kPad = 12;
constexpr double kLine = 17;
constexpr double kMostWidth = 440;
constexpr size_t kMostTitleLines = 3;

}  // namespace

void PaintCard(Painter& painter, const Rect& box) {
  const Theme& theme = painter.theme();
  for (int i = 4; i >= 1; --i) {  // a soft shadow from a few widening boxes
    const double spread = 2.0 * i;
    painter.Fill(
        {box.x - spread, box.y - spread + 4, box.width + 2 * spread, box.height + 2 * spread},
        Faded(theme.shadow, 0.28), kRadius + spread);
  }
  painter.Fill(box, theme.raised, kRadius);
  painter.Frame(box, theme.line, kRadius);
}

void PaintHoverCard(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                    const Input& input) {
  const std::optional<LevelHover>& level = viewer.level_hover();
  const std::optional<FrameHover>& frame = viewer.frame_hover();
  const std::optional<HoverCard>& loss = viewer.loss_hover();
  const std::optional<TileHover>& tile = viewer.tile_hover();
  if (!viewer.hover().has_value() && !level.has_value() && !frame.has_value() &&
      !loss.has_value() && !tile.has_value()) {
    return;
  }
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  const LaneBoard& board = viewer.board();
  const HoverCard card = loss.has_value()    ? *loss
                         : frame.has_value() ? CardOf(model, board.stacks(), board.SpanOf(*frame))
                         : tile.has_value()  ? CardOf(tile->spot)
                         : level.has_value()
                             ? CardOf(model, level->level, level->time_ns)
                             : CardOf(model, viewer.hover()->event, viewer.hover()->crowd);
  double width = Painter::Width(fonts.strong, card.title) + 16;
  for (const std::string& line : card.lines)
    width = std::max(width, Painter::Width(fonts.number, line));
  width = std::ceil(std::min(width, kMostWidth));
  std::vector<std::string_view> title = Painter::Wrap(fonts.strong, card.title, width - 16);
  if (title.size() > kMostTitleLines) title.resize(kMostTitleLines);
  const double height =
      2 * kPad - 4 + kLine * static_cast<double>(title.size() + card.lines.size());
  const ScreenLayout& screen = viewer.screen();
  Rect box{std::floor(input.mouse_x) + 16, std::floor(input.mouse_y) + 18, width + 2 * kPad,
           height};
  if (box.right() > screen.lanes.right() - 8) box.x = input.mouse_x - 16 - box.width;
  if (box.bottom() > screen.status.y - 8) box.y = input.mouse_y - 14 - box.height;
  box.x = std::max(box.x, 8.0);
  PaintCard(painter, box);
  double y = box.y + kPad - 2;
  painter.Fill({box.x + kPad, y + 4, 9, 9},
               card.warns                  ? theme.warning
               : card.language.has_value() ? theme.OfLanguage(*card.language)
                                           : theme.OfCategory(card.category),
               2);
  for (const std::string_view line : title) {
    painter.Text(fonts.strong, box.x + kPad + 16, y, kLine, theme.text, line, width - 15);
    y += kLine;
  }
  for (const std::string& line : card.lines) {
    painter.Text(fonts.number, box.x + kPad, y, kLine, theme.muted, line, width);
    y += kLine;
  }
}

}  // namespace nanolane::desktop
