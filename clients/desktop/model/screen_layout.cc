#include "clients/desktop/model/screen_layout.h"

#include <algorithm>
#include <cmath>

namespace nanolane::desktop {

ScreenLayout LayOutScreen(double width, double height) {
  width = std::floor(std::max(width, 320.0));
  height = std::floor(std::max(height, 160.0));
  ScreenLayout screen;
  const double above = kTopBarHeight + kOverviewHeight + kRulerHeight;
  // A fifth of the window, on the 4 px grid.
  double details =
      std::clamp(std::round(height * 0.055) * 4, kLeastDetailsHeight, kMostDetailsHeight);
  if (height - above - kStatusHeight - details < kLeastLanesHeight) details = 0;
  const double lanes = std::max(0.0, height - above - kStatusHeight - details);
  screen.top_bar = {0, 0, width, kTopBarHeight};
  screen.overview = {0, screen.top_bar.bottom(), width, kOverviewHeight};
  screen.ruler = {0, screen.overview.bottom(), width, kRulerHeight};
  screen.labels = {0, screen.ruler.bottom(), kLabelWidth, lanes};
  screen.lanes = {kLabelWidth, screen.ruler.bottom(), width - kLabelWidth, lanes};
  screen.live_badge = {kLabelWidth - 54, screen.ruler.y + 4, 46, kRulerHeight - 8};
  screen.details = {0, screen.lanes.bottom(), width, details};
  screen.status = {0, screen.details.bottom(), width, kStatusHeight};
  return screen;
}

}  // namespace nanolane::desktop
