// The window of time that the timeline shows: zoom, pan, history, and the glide from one window to
// the next.
//
// Invariants: the span is at least 1 ns and at most kMaxZoomOut times the bounds'; the window
// always keeps some of the bounds in sight. Zooming in and out changes the span by at least 1 ns a
// step, so that no zoom level is a trap. Arithmetic is integer; no time becomes floating point.
//
// While the bounds grow (a session is being recorded) the window may follow their end: it moves as
// they grow, by as much, without steps in the history. It does so as long as the end lies in its
// last part: panning, zooming in or jumping elsewhere stops it, and panning back to the end goes on
// with it. Zooming out keeps the right edge where it is.
//
// A gesture (a run of wheel clicks, a drag, a held key) is one step of the history, however many
// changes it makes: a step begins when the gesture changes or pauses. Thread-compatible.
#pragma once

#include <cstdint>
#include <vector>

#include "libs/timeline/columns.h"

namespace nanolane::desktop {

using timeline::Window;

class Viewport {
 public:
  // What moves the window. Changes of one continuous gesture share one step of the history.
  enum class Gesture : uint8_t { kNone, kZoom, kPan, kJump };

  static constexpr int64_t kMaxZoomOut = 2;  // widest span, in spans of the bounds
  static constexpr int64_t kGesturePauseNs = 500'000'000;
  static constexpr int64_t kGlideNs = 140'000'000;  // length of a jump's animation
  static constexpr size_t kMaxHistory = 256;        // the oldest steps go first
  static constexpr int64_t kEndPart = 4;   // the end is followed in the last fourth of the window
  static constexpr int64_t kEndRoom = 50;  // of the span, after the end, where it is followed

  // Sets what there is to see. Keeps the window where it fits.
  void SetBounds(const Window& bounds);
  const Window& bounds() const { return bounds_; }

  // Whether the bounds grow. False also ends following.
  void SetLive(bool live);
  bool live() const { return live_; }
  // The bounds have grown to `bounds`. A window that follows their end moves along.
  void Grow(const Window& bounds);
  // Glides to the end, at the zoom that there is, and follows it. Not live: nothing happens.
  void FollowEnd();
  // Follows the end if it is in sight.
  void FollowEndInSight() { following_ = live_ && EndInSight(); }
  bool following() const { return following_; }

  // Shows `window` at once, without history: the opening view.
  void Open(const Window& window);
  // Whether anything but Open has moved the window.
  bool touched() const { return touched_; }

  // What to draw now, and where it is heading (the same unless gliding).
  const Window& shown() const { return shown_; }
  const Window& target() const { return target_; }
  bool gliding() const { return gliding_; }

  // Scales the span by `factor` (< 1 zooms in) around the point at `share` (0..1) of the width.
  void Zoom(double factor, double share);
  // Moves by `pixels` of `width`: positive shows later times. Parts of a nanosecond add up.
  void Pan(double pixels, double width);
  // Glides to `window`, as one step.
  void Jump(const Window& window);
  // Jump to [start, end) with `margin` of the span on each side; an instant gets a sensible span.
  void JumpToSpan(int64_t start_ns, int64_t end_ns, double margin);

  // The window before the last step, and after it again. False: there is none.
  bool Back();
  bool Forward();
  bool can_go_back() const { return !past_.empty(); }
  bool can_go_forward() const { return !future_.empty(); }

  // Says what time it is (monotonic): ends pauses of gestures, advances the glide.
  void Tick(int64_t now_ns);

 private:
  Window Clamped(const Window& window) const;
  bool EndInSight() const;
  void BeginStep(Gesture gesture);
  void ShowAtOnce(const Window& window);
  void GlideTo(const Window& window);

  Window bounds_{0, 1};
  Window shown_{0, 1};
  Window target_{0, 1};
  Window glide_from_{0, 1};
  std::vector<Window> past_;
  std::vector<Window> future_;
  Gesture gesture_ = Gesture::kNone;
  int64_t gesture_ns_ = 0;
  int64_t now_ns_ = 0;
  int64_t glide_start_ns_ = 0;
  double pan_rest_ns_ = 0;
  bool gliding_ = false;
  bool touched_ = false;
  bool live_ = false;
  bool following_ = false;
};

}  // namespace nanolane::desktop
