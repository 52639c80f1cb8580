// A measured range of time: marked by a drag on the ruler, or taken from the selected event. It
// stays until it is cleared. Edges snap to the edges of spans that are near on screen.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "clients/desktop/model/input.h"
#include "clients/desktop/model/row_layout.h"
#include "clients/desktop/model/screen_layout.h"
#include "libs/timeline/columns.h"

namespace nanolane::desktop {

class Measure {
 public:
  static constexpr double kSnap = 6;       // pixels
  static constexpr double kLeastDrag = 5;  // pixels that part a click from a drag

  // The time to use instead of `time_ns`, at most `slop_ns` away.
  using Snap = std::function<int64_t(int64_t time_ns, int64_t slop_ns)>;

  // One frame's mouse. A drag that begins on the ruler marks a range of `shown`; a click there
  // changes nothing.
  void Step(const Input& input, const ScreenLayout& screen, const timeline::Window& shown,
            const Snap& snap);

  void Set(const timeline::Window& range) { range_ = range; }
  // Ends a drag as well. False: there was nothing.
  bool Clear();

  // start <= end; equal for an instant.
  const std::optional<timeline::Window>& range() const { return range_; }
  bool dragging() const { return pressed_; }

 private:
  std::optional<timeline::Window> range_;
  bool pressed_ = false;  // on the ruler
  bool moved_ = false;
  bool was_down_ = false;
  double press_x_ = 0;
  int64_t press_ns_ = 0;  // snapped
};

// The start or end of a span nearest to `time_ns` of those in the rows in sight (of `layout`,
// scrolled by `scroll`), within `slop_ns`; else `time_ns`. O(rows · log n).
int64_t NearestEdge(const TimelineModel& model, const RowLayout& layout, double scroll,
                    double height, int64_t time_ns, int64_t slop_ns);

}  // namespace nanolane::desktop
