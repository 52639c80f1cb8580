#include "clients/desktop/model/measure.h"

#include <algorithm>
#include <cmath>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {

void Measure::Step(const Input& input, const ScreenLayout& screen, const timeline::Window& shown,
                   const Snap& snap) {
  const double width = screen.lanes.width;
  const double x = std::clamp(input.mouse_x - screen.lanes.x, 0.0, width);
  const int64_t slop =
      ClampToInt64(static_cast<Wide>(kSnap / width * static_cast<double>(SpanOf(shown))));
  const auto here = [&] { return snap(TimeAt(shown, width, x), slop); };
  const bool on_ruler =
      screen.ruler.Contains(input.mouse_x, input.mouse_y) && input.mouse_x >= screen.lanes.x;
  if (input.left_down && !was_down_ && on_ruler && !input.mouse_taken) {
    pressed_ = true;
    moved_ = false;
    press_x_ = input.mouse_x;
    press_ns_ = here();
  }
  was_down_ = input.left_down;
  if (!pressed_) return;
  moved_ = moved_ || std::abs(input.mouse_x - press_x_) >= kLeastDrag;
  if (moved_) {
    const int64_t now_ns = here();
    range_ = timeline::Window{std::min(press_ns_, now_ns), std::max(press_ns_, now_ns)};
  }
  pressed_ = input.left_down;
}

bool Measure::Clear() {
  const bool any = range_.has_value();
  range_.reset();
  pressed_ = false;
  return any;
}

int64_t NearestEdge(const TimelineModel& model, const RowLayout& layout, double scroll,
                    double height, int64_t time_ns, int64_t slop_ns) {
  int64_t best = time_ns;
  Wide best_distance = static_cast<Wide>(slop_ns) + 1;
  const auto consider = [&](int64_t edge) {
    const Wide offset = static_cast<Wide>(edge) - time_ns;
    const Wide distance = offset < 0 ? -offset : offset;
    if (distance >= best_distance) return;
    best = edge;
    best_distance = distance;
  };
  for (const Row& row : layout.rows()) {
    if (row.kind == RowKind::kHeader || row.kind == RowKind::kMemory) continue;
    if (row.y + row.height <= scroll || row.y >= scroll + height) continue;
    const LaneModel& lane = *model.lanes()[row.lane];
    // A long span may hide the edges of its neighbours: both sides are asked as well.
    for (const Wide at : {Wide{time_ns}, static_cast<Wide>(time_ns) - slop_ns,
                          static_cast<Wide>(time_ns) + slop_ns}) {
      const auto event = lane.rows.EventAt(row.depth, ClampToInt64(at), slop_ns);
      if (!event.has_value()) continue;
      consider(lane.events.start_ns(*event));
      consider(lane.events.end_ns(*event));
    }
  }
  return best;
}

}  // namespace nanolane::desktop
