#include "clients/desktop/model/navigator.h"

#include <catch2/catch.hpp>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

constexpr Window kAll{0, 1'432'000};  // a microsecond per pixel of the lanes

// A mouse and a keyboard over a 1600 x 900 window.
class Hands {
 public:
  Hands() {
    viewport_.SetBounds(kAll);
    viewport_.Open(kAll);
    MoveTo(600, 300);
  }

  void MoveTo(double lanes_x, double y) {
    input.mouse_x = screen_.lanes.x + lanes_x;
    input.mouse_y = y;
  }
  Wishes Frame(double seconds = 0.016) {
    now_ns_ += 1'000'000'000;  // each frame is a gesture of its own
    viewport_.Tick(now_ns_);
    const Wishes wishes = navigator_.Step(input, screen_, kAll, seconds, viewport_);
    input.wheel = input.wheel_sideways = 0;
    input.pressed.fill(0);
    viewport_.Tick(now_ns_ + 500'000'000);
    return wishes;
  }
  void Press(Key key) { input.pressed[static_cast<size_t>(key)] = 1; }
  void Hold(Key key, bool down) { input.held[static_cast<size_t>(key)] = down; }
  const Window& shown() const { return viewport_.shown(); }
  const ScreenLayout& screen() const { return screen_; }
  const Navigator& navigator() const { return navigator_; }

  Input input;

 private:
  ScreenLayout screen_ = LayOutScreen(1'600, 900);
  Viewport viewport_;
  Navigator navigator_;
  int64_t now_ns_ = 0;
};

}  // namespace

TEST_CASE("the wheel zooms at the cursor, with ctrl as well") {
  for (const bool ctrl : {false, true}) {
    Hands hands;
    hands.input.ctrl = ctrl;
    hands.input.wheel = 1;
    hands.Frame();
    CHECK(SpanOf(hands.shown()) == 1'145'600);
    CHECK(TimeAt(hands.shown(), 1'432, 600) == Approx(600'000).margin(1));
  }
}

TEST_CASE("shift and the wheel pan without zooming") {
  Hands hands;
  hands.input.shift = true;
  hands.input.wheel = -1;
  hands.Frame();
  CHECK(hands.shown().start_ns == 143'200);
  CHECK(SpanOf(hands.shown()) == SpanOf(kAll));
}

TEST_CASE("the wheel over the labels scrolls") {
  Hands hands;
  hands.MoveTo(-100, 300);
  hands.input.wheel = -1;
  CHECK(hands.Frame().scroll == 60);
  CHECK(SpanOf(hands.shown()) == SpanOf(kAll));
}

TEST_CASE("W and S zoom, A and D pan") {
  Hands hands;
  hands.Hold(Key::kW, true);
  hands.Frame(0.1);
  CHECK(SpanOf(hands.shown()) < SpanOf(kAll));
  hands.Hold(Key::kW, false);
  hands.Hold(Key::kD, true);
  const int64_t before = hands.shown().start_ns;
  hands.Frame(0.1);
  CHECK(hands.shown().start_ns > before);
  hands.Hold(Key::kD, false);
  hands.Hold(Key::kA, true);
  hands.Frame(0.1);
  CHECK(hands.shown().start_ns == Approx(before).margin(2));
}

TEST_CASE("keys do nothing while a text field has the keyboard") {
  Hands hands;
  hands.input.typing = true;
  hands.Hold(Key::kW, true);
  hands.Press(Key::kF);
  hands.Press(Key::kSlash);
  const Wishes wishes = hands.Frame(0.1);
  CHECK(SpanOf(hands.shown()) == SpanOf(kAll));
  CHECK_FALSE(wishes.fit);
  CHECK_FALSE(wishes.focus_search);
}

TEST_CASE("a left click is a click, a left drag is not") {
  Hands hands;
  hands.input.left_down = true;
  CHECK_FALSE(hands.Frame().click.has_value());
  hands.input.left_down = false;
  CHECK(hands.Frame().click.has_value());
  hands.input.left_down = true;
  hands.Frame();
  hands.MoveTo(606, 300);
  hands.input.left_down = false;
  CHECK_FALSE(hands.Frame().click.has_value());
}

TEST_CASE("a right click under five pixels goes back") {
  Hands hands;
  hands.input.wheel = 3;
  hands.Frame();
  hands.input.right_down = true;
  hands.Frame();
  hands.MoveTo(604, 300);
  hands.Frame();
  hands.input.right_down = false;
  hands.Frame();
  CHECK(SpanOf(hands.shown()) == SpanOf(kAll));
}

TEST_CASE("a right drag pans both ways and does not go back") {
  Hands hands;
  hands.input.wheel = 3;
  hands.Frame();
  const Window before = hands.shown();
  hands.input.right_down = true;
  hands.Frame();
  hands.MoveTo(500, 280);
  CHECK(hands.Frame().scroll == 20);
  hands.input.right_down = false;
  hands.Frame();
  CHECK(SpanOf(hands.shown()) == SpanOf(before));
  CHECK(hands.shown().start_ns - before.start_ns ==
        Approx(100.0 * static_cast<double>(SpanOf(before)) / 1'432).margin(2));
}

TEST_CASE("ctrl and a drag zoom to the marked range") {
  Hands hands;
  hands.input.ctrl = true;
  hands.MoveTo(400, 300);
  hands.input.left_down = true;
  hands.Frame();
  hands.MoveTo(300, 320);
  hands.Frame();
  REQUIRE(hands.navigator().band().has_value());
  CHECK(hands.navigator().band()->from == 300);
  hands.input.left_down = false;
  hands.Frame();
  CHECK(hands.shown().start_ns == 300'000);
  CHECK(hands.shown().end_ns == 400'000);
}

TEST_CASE("escape drops a range that is being marked") {
  Hands hands;
  hands.input.ctrl = true;
  hands.input.left_down = true;
  hands.Frame();
  hands.MoveTo(300, 300);
  hands.Press(Key::kEscape);
  CHECK_FALSE(hands.Frame().escape);
  hands.input.left_down = false;
  hands.Frame();
  CHECK(SpanOf(hands.shown()) == SpanOf(kAll));
}

TEST_CASE("a drag on the overview chooses the window, a click moves it there") {
  Hands hands;
  const double y = hands.screen().overview.y + 20;
  hands.MoveTo(200, y);
  hands.input.left_down = true;
  hands.Frame();
  hands.MoveTo(300, y);
  hands.Frame();
  hands.input.left_down = false;
  hands.Frame();
  CHECK(hands.shown().start_ns == 200'000);
  CHECK(hands.shown().end_ns == 300'000);
  hands.MoveTo(700, y);
  hands.input.left_down = true;
  hands.Frame();
  hands.input.left_down = false;
  hands.Frame();
  CHECK(hands.shown().start_ns == 650'000);
  CHECK(SpanOf(hands.shown()) == 100'000);
}

TEST_CASE("ctrl with the arrows walks the history") {
  Hands hands;
  hands.input.wheel = 2;
  hands.Frame();
  const Wide zoomed = SpanOf(hands.shown());
  hands.input.ctrl = true;
  hands.Press(Key::kLeft);
  hands.Frame();
  CHECK(SpanOf(hands.shown()) == SpanOf(kAll));
  hands.Press(Key::kRight);
  hands.Frame();
  CHECK(SpanOf(hands.shown()) == zoomed);
}

TEST_CASE("a question mark, a slash and ctrl with F are told apart") {
  Hands hands;
  hands.Press(Key::kSlash);
  CHECK(hands.Frame().focus_search);
  hands.input.shift = true;
  hands.Press(Key::kSlash);
  Wishes wishes = hands.Frame();
  CHECK(wishes.toggle_keys);
  CHECK_FALSE(wishes.focus_search);
  hands.input.shift = false;
  hands.input.ctrl = true;
  hands.Press(Key::kF);
  wishes = hands.Frame();
  CHECK(wishes.focus_search);
  CHECK_FALSE(wishes.fit);
}

}  // namespace nanolane::desktop
