#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/label_boxes.h"
#include "clients/desktop/view/lanes_view.h"
#include "clients/desktop/view/panels.h"

namespace nanolane::desktop {

void PaintHiddenStrip(Painter& painter, const Viewer& viewer) {
  const size_t hidden = viewer.layout().hidden_lanes();
  if (hidden == 0) return;
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  const Rect strip = HiddenStrip(viewer.screen());
  const bool hovered = viewer.board().hand().strip_hovered();
  painter.Fill(strip, hovered ? theme.raised : theme.panel);
  painter.HorizontalLine(strip.x, strip.right(), strip.y, theme.line);
  painter.VerticalLine(strip.right() - 1, strip.y, strip.bottom(), theme.line);
  double x = strip.x + kLabelMargin;
  x += painter.Text(fonts.small, x, strip.y, strip.height, theme.muted,
                    absl::StrCat(hidden, " hidden · "));
  painter.Text(fonts.small, x, strip.y, strip.height, theme.accent, "show",
               strip.right() - kLabelMargin - x);
}

void PaintLaneMenu(Painter& painter, const Viewer& viewer) {
  const LabelHand& hand = viewer.board().hand();
  if (!hand.menu().has_value()) return;
  const Theme& theme = painter.theme();
  const LaneMenu& menu = *hand.menu();
  PaintCard(painter, menu.box);
  const std::optional<size_t> under = hand.menu_item();
  for (size_t i = 0; i < menu.items.size(); ++i) {
    const LaneMenu::Item& item = menu.items[i];
    if (under == i) painter.Fill(item.box, Faded(theme.accent, 0.16), 4);
    painter.Text(painter.fonts().body, item.box.x + 10, item.box.y, item.box.height,
                 item.enabled ? theme.text : theme.faint, item.text, item.box.width - 20);
  }
}

void PaintLaneMove(Painter& painter, const Viewer& viewer) {
  const std::optional<LabelHand::Move>& move = viewer.board().hand().move();
  if (!move.has_value()) return;
  const Theme& theme = painter.theme();
  const ScreenLayout& screen = viewer.screen();
  const RowLayout& layout = viewer.layout();
  for (const LaneBlock& block : layout.blocks()) {
    if (block.key != move->key) continue;
    const bool stuck = block.y < layout.stuck_height();
    painter.Clip(RowsArea(screen, layout, stuck));
    const double y = screen.lanes.y + layout.OnScreen(block.y, viewer.scroll());
    painter.Fill({0, y, screen.labels.width - 1, block.height - 1}, Faded(theme.accent, 0.14));
    const double line = screen.lanes.y + (stuck ? move->line : move->line - viewer.scroll());
    painter.Fill({0, std::floor(line) - 1, screen.lanes.right(), 2}, theme.accent);
    painter.Unclip();
  }
}

void PaintLossMark(Painter& painter, const Rect& box) {
  const Theme& theme = painter.theme();
  painter.Warning(box.x + box.width / 2, box.y + box.height / 2, theme.warning, theme.background);
}

}  // namespace nanolane::desktop
