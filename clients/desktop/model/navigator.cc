#include "clients/desktop/model/navigator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {

Wishes Navigator::Step(const Input& input, const ScreenLayout& screen, const Window& overview,
                       double seconds, Viewport& viewport) {
  Wishes wishes;
  lanes_x_ = screen.lanes.x;
  lanes_width_ = screen.lanes.width;
  const Point before = mouse_;
  mouse_ = {input.mouse_x, input.mouse_y};
  if (!input.mouse_taken) StepWheel(input, screen, viewport, wishes);
  StepLeft(input, screen, overview, viewport, wishes);
  if (drag_ == Drag::kRight && right_moved_ && input.right_down) {
    viewport.Pan(before.x - mouse_.x, screen.lanes.width);
    wishes.scroll += before.y - mouse_.y;
  }
  StepRight(input, screen, viewport, wishes);
  StepKeys(input, seconds, viewport, wishes);
  was_left_ = input.left_down;
  was_right_ = input.right_down;
  return wishes;
}

void Navigator::StepWheel(const Input& input, const ScreenLayout& screen, Viewport& viewport,
                          Wishes& wishes) {
  if (screen.labels.Contains(mouse_.x, mouse_.y)) {
    wishes.scroll -= input.wheel * kWheelScroll;
    return;
  }
  const bool over_time = mouse_.x >= screen.lanes.x && mouse_.x < screen.lanes.right() &&
                         mouse_.y >= screen.ruler.y && mouse_.y < screen.lanes.bottom();
  if (!over_time) return;
  const double sideways = input.wheel_sideways + (input.shift ? input.wheel : 0);
  if (sideways != 0) viewport.Pan(-sideways * kWheelPan * screen.lanes.width, screen.lanes.width);
  if (input.shift || input.wheel == 0) return;
  const double share = (mouse_.x - screen.lanes.x) / screen.lanes.width;
  viewport.Zoom(std::pow(kWheelZoom, input.wheel), share);
}

void Navigator::StepLeft(const Input& input, const ScreenLayout& screen, const Window& overview,
                         Viewport& viewport, Wishes& wishes) {
  if (input.left_down && !was_left_ && !input.mouse_taken && drag_ == Drag::kNone) {
    press_ = mouse_;
    if (screen.lanes.Contains(mouse_.x, mouse_.y)) drag_ = input.ctrl ? Drag::kBand : Drag::kLeft;
    const bool in_plot = mouse_.x >= screen.lanes.x;
    if (in_plot && screen.overview.Contains(mouse_.x, mouse_.y)) drag_ = Drag::kOverview;
    if (screen.live_badge.Contains(mouse_.x, mouse_.y)) wishes.follow_end = true;
  }
  const bool left_drag = drag_ == Drag::kLeft || drag_ == Drag::kBand || drag_ == Drag::kOverview;
  if (!input.left_down && left_drag) ReleaseLeft(screen, overview, viewport, wishes);
}

void Navigator::ReleaseLeft(const ScreenLayout& screen, const Window& overview, Viewport& viewport,
                            Wishes& wishes) {
  const std::optional<Band> marked = band();
  const Drag drag = std::exchange(drag_, Drag::kNone);
  const double width = screen.lanes.width;
  if (drag == Drag::kLeft && Moved() < kClickSlop) wishes.click = mouse_;
  if (drag == Drag::kBand && marked.has_value()) {
    viewport.Jump({TimeAt(viewport.shown(), width, marked->from),
                   TimeAt(viewport.shown(), width, marked->to)});
  }
  if (drag != Drag::kOverview) return;
  const int64_t at = TimeAt(overview, width, mouse_.x - screen.lanes.x);
  Window chosen{at, at};
  if (marked.has_value()) {
    chosen = {TimeAt(overview, width, marked->from), TimeAt(overview, width, marked->to)};
  }
  if (chosen.end_ns < viewport.bounds().start_ns || chosen.start_ns > viewport.bounds().end_ns) {
    wishes.outside = chosen;
  } else if (marked.has_value()) {
    viewport.Jump(chosen);
  } else {
    const Wide span = SpanOf(viewport.target());
    viewport.Jump({ClampToInt64(at - span / 2), ClampToInt64(at - span / 2 + span)});
  }
}

void Navigator::StepRight(const Input& input, const ScreenLayout& screen, Viewport& viewport,
                          Wishes& wishes) {
  const bool over_time = screen.lanes.Contains(mouse_.x, mouse_.y) ||
                         (screen.ruler.Contains(mouse_.x, mouse_.y) && mouse_.x >= screen.lanes.x);
  if (input.right_down && !was_right_ && !input.mouse_taken && over_time && drag_ == Drag::kNone) {
    drag_ = Drag::kRight;
    press_ = mouse_;
    right_moved_ = false;
    return;
  }
  if (drag_ != Drag::kRight) return;
  if (input.right_down && !right_moved_ && Moved() >= kClickSlop) {
    right_moved_ = true;
    viewport.Pan(press_.x - mouse_.x, screen.lanes.width);  // what the slop had held back
    wishes.scroll += press_.y - mouse_.y;
  }
  if (!input.right_down) {
    drag_ = Drag::kNone;
    if (!right_moved_) viewport.Back();
  }
}

void Navigator::StepKeys(const Input& input, double seconds, Viewport& viewport, Wishes& wishes) {
  if (input.Pressed(Key::kEscape)) {
    if (drag_ == Drag::kBand || drag_ == Drag::kOverview) {
      drag_ = Drag::kNone;
    } else {
      wishes.escape = !input.typing;  // a text field has its own
    }
  }
  if (input.typing) {
    wishes.next_hit = input.Pressed(Key::kEnter) && !input.shift;
    wishes.previous_hit = input.Pressed(Key::kEnter) && input.shift;
    return;
  }
  if (input.ctrl) {
    if (input.Pressed(Key::kLeft)) viewport.Back();
    if (input.Pressed(Key::kRight)) viewport.Forward();
    if (input.Pressed(Key::kF)) wishes.focus_search = true;
    return;
  }
  const bool over_time = mouse_.x >= lanes_x_ && mouse_.x < lanes_x_ + lanes_width_;
  const double share = over_time && lanes_width_ > 0 ? (mouse_.x - lanes_x_) / lanes_width_ : 0.5;
  // A key that went down and up within one frame still counts as a sixtieth of a second.
  const auto held = [&input, seconds](Key key) {
    return input.Held(key) ? seconds : input.Pressed(key) ? 1.0 / 60 : 0.0;
  };
  const double in = held(Key::kW) - held(Key::kS);
  if (in != 0) viewport.Zoom(std::pow(kKeyZoomPerSecond, in), share);
  const double right = held(Key::kD) - held(Key::kA);
  if (right != 0) viewport.Pan(right * kKeyPanPerSecond * lanes_width_, lanes_width_);
  wishes.scroll += (held(Key::kDown) - held(Key::kUp)) * 600;
  if (input.Pressed(Key::kPageDown)) wishes.scroll += 240;
  if (input.Pressed(Key::kPageUp)) wishes.scroll -= 240;
  if (input.Pressed(Key::kHome)) wishes.scroll -= 1e9;
  wishes.fit = input.Pressed(Key::kF);
  wishes.follow_end = wishes.follow_end || input.Pressed(Key::kEnd);
  wishes.next_hit = input.Pressed(Key::kEnter) && !input.shift;
  wishes.previous_hit = input.Pressed(Key::kEnter) && input.shift;
  wishes.measure = input.Pressed(Key::kM);
  if (input.Pressed(Key::kPeriod)) {
    wishes.move = input.shift ? EventMove::kNextSame : EventMove::kNext;
  }
  if (input.Pressed(Key::kComma)) {
    wishes.move = input.shift ? EventMove::kPreviousSame : EventMove::kPrevious;
  }
  if (input.Pressed(Key::kLeftBracket)) wishes.move = EventMove::kToLaunch;
  if (input.Pressed(Key::kRightBracket)) wishes.move = EventMove::kToLaunched;
  if (input.Pressed(Key::kSlash)) (input.shift ? wishes.toggle_keys : wishes.focus_search) = true;
}

double Navigator::Moved() const { return std::hypot(mouse_.x - press_.x, mouse_.y - press_.y); }

std::optional<Band> Navigator::band() const {
  if (drag_ != Drag::kBand && drag_ != Drag::kOverview) return std::nullopt;
  if (std::abs(mouse_.x - press_.x) < kClickSlop) return std::nullopt;
  const double a = std::clamp(press_.x - lanes_x_, 0.0, lanes_width_);
  const double b = std::clamp(mouse_.x - lanes_x_, 0.0, lanes_width_);
  return Band{std::min(a, b), std::max(a, b)};
}

}  // namespace nanolane::desktop
