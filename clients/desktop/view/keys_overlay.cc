#include <array>
#include <cmath>

#include "clients/desktop/view/panels.h"

namespace nanolane::desktop {
namespace {

struct KeyLine {
  const char* keys;
  const char* does;
};
constexpr std::array<KeyLine, 17> kLines = {{{"wheel, ctrl + wheel", "zoom at the cursor"},
                                             {"W  S", "zoom in, out"},
                                             {"A  D", "earlier, later"},
                                             {"shift + wheel", "earlier, later"},
                                             {"right drag", "move"},
                                             {"right click", "back to the view before"},
                                             {"ctrl + ←  →", "undo, redo a move"},
                                             {"click", "select a span and zoom onto it"},
                                             {"ctrl + drag", "zoom to a range"},
                                             {"drag in the overview", "choose the window"},
                                             {"F", "fit the selection, or everything"},
                                             {"end, click on LIVE", "follow what is recorded"},
                                             {"/, ctrl + F", "search names (regex)"},
                                             {"enter, shift + enter", "next, previous hit"},
                                             {"↑  ↓, wheel on labels", "scroll the lanes"},
                                             {"esc", "clear, close"},
                                             {"?", "this list"}}};
constexpr double kLine = 24;

}  // namespace

void PaintKeys(Painter& painter, const ScreenLayout& screen) {
  const Theme& theme = painter.theme();
  const double width = 480;
  const double height = 64 + kLine * static_cast<double>(kLines.size()) + 12;
  const Rect all{0, 0, screen.top_bar.width, screen.status.bottom()};
  painter.Fill(all, Faded(theme.background, 0.6));
  const Rect box{std::floor((all.width - width) / 2), std::floor((all.height - height) / 2), width,
                 height};
  PaintCard(painter, box);
  painter.Text(painter.fonts().strong, box.x + 24, box.y + 16, 24, theme.text, "Keys and mouse");
  double y = box.y + 52;
  for (const KeyLine& line : kLines) {
    painter.Text(painter.fonts().number, box.x + 24, y, kLine, theme.accent, line.keys);
    painter.Text(painter.fonts().body, box.x + 212, y, kLine, theme.text, line.does);
    y += kLine;
  }
}

}  // namespace nanolane::desktop
