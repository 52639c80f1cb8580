// From mouse and keys to what they ask for: moves of the viewport at once, everything else as a
// result for the caller to carry out.
//
// Wheel and ctrl+wheel zoom at the cursor; shift+wheel and A/D pan; W/S zoom; right drag pans both
// ways; right click (under kClickSlop of motion) goes back in the history; left click picks; ctrl+
// drag marks a range and zooms to it; a drag on the overview chooses the window; End, or a click on
// the live badge, goes to the end of a session that is being recorded; the keys . , [ ] go from
// event to event. A drag on the ruler is measure.h's. Thread-compatible.
#pragma once

#include <optional>

#include "clients/desktop/model/input.h"
#include "clients/desktop/model/screen_layout.h"
#include "clients/desktop/model/viewport.h"

namespace nanolane::desktop {

// A point of the window, logical pixels.
struct Point {
  double x = 0;
  double y = 0;
};

// A marked stretch of the lanes, in pixels from their left edge, from <= to.
struct Band {
  double from = 0;
  double to = 0;
};

// From the selected event to another one.
enum class EventMove : uint8_t {
  kNext,  // of its lane
  kPrevious,
  kNextSame,  // of its name, in its lane
  kPreviousSame,
  kToLaunch,    // the call that launched it
  kToLaunched,  // what the call launched
};

struct Wishes {
  std::optional<Point> click;  // a left click in the lanes
  double scroll = 0;           // logical pixels, positive shows what lies below
  bool fit = false;
  bool follow_end = false;
  bool toggle_keys = false;
  bool escape = false;
  bool focus_search = false;
  bool next_hit = false;
  bool previous_hit = false;
  std::optional<Window> outside;  // chosen on the overview, with nothing of the viewport's bounds
  std::optional<EventMove> move;
  bool measure = false;  // the selected event
};

class Navigator {
 public:
  static constexpr double kClickSlop = 5;            // pixels that part a click from a drag
  static constexpr double kWheelZoom = 0.8;          // span per click
  static constexpr double kKeyZoomPerSecond = 0.15;  // span after a second of W
  static constexpr double kKeyPanPerSecond = 1.2;    // widths in a second of D
  static constexpr double kWheelPan = 0.1;           // widths per click
  static constexpr double kWheelScroll = 60;         // pixels per click

  // `overview` is the extent of time that the overview strip shows. `seconds` have passed since the
  // last frame.
  Wishes Step(const Input& input, const ScreenLayout& screen, const Window& overview,
              double seconds, Viewport& viewport);

  // The range being marked, for drawing.
  std::optional<Band> band() const;
  bool dragging() const { return drag_ != Drag::kNone; }
  bool on_overview() const { return drag_ == Drag::kOverview; }

 private:
  enum class Drag : uint8_t { kNone, kLeft, kBand, kOverview, kRight };

  void StepWheel(const Input& input, const ScreenLayout& screen, Viewport& viewport,
                 Wishes& wishes);
  void StepKeys(const Input& input, double seconds, Viewport& viewport, Wishes& wishes);
  void StepLeft(const Input& input, const ScreenLayout& screen, const Window& overview,
                Viewport& viewport, Wishes& wishes);
  void StepRight(const Input& input, const ScreenLayout& screen, Viewport& viewport,
                 Wishes& wishes);
  void ReleaseLeft(const ScreenLayout& screen, const Window& overview, Viewport& viewport,
                   Wishes& wishes);
  double Moved() const;  // pixels since the press

  Drag drag_ = Drag::kNone;
  Point press_;
  Point mouse_;
  double lanes_x_ = 0;
  double lanes_width_ = 0;
  bool right_moved_ = false;
  bool was_left_ = false;
  bool was_right_ = false;
};

}  // namespace nanolane::desktop
