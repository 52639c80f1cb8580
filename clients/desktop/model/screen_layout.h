// Where the parts of the window lie, in logical pixels, for any window size.
#pragma once

namespace nanolane::desktop {

struct Rect {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  bool Contains(double px, double py) const {
    return px >= x && px < right() && py >= y && py < bottom();
  }
};

inline constexpr double kTopBarHeight = 44;
inline constexpr double kOverviewHeight = 48;
inline constexpr double kRulerHeight = 28;
inline constexpr double kLabelWidth = 168;
inline constexpr double kLeastDetailsHeight = 156;
inline constexpr double kMostDetailsHeight = 252;
inline constexpr double kStatusHeight = 28;
// Below this, the details panel gives its room to the lanes.
inline constexpr double kLeastLanesHeight = 160;

struct ScreenLayout {
  Rect top_bar;
  Rect overview;  // the whole strip; its plot lies over the lanes' pixels
  Rect ruler;
  Rect labels;      // beside the lanes
  Rect lanes;       // the pixels of time
  Rect live_badge;  // beside the ruler: whether the view follows a session that is being recorded
  Rect details;
  Rect status;
};

ScreenLayout LayOutScreen(double width, double height);

}  // namespace nanolane::desktop
