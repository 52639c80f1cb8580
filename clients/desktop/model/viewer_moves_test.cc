// Keys that go from event to event, and measuring, in a viewer without a window.
#include <catch2/catch.hpp>

#include "clients/desktop/model/viewer.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {
namespace {

class Hands {
 public:
  explicit Hands(const SessionBuilder& builder = SmallSession()) {
    for (LoaderMessage& message : LoaderMessages(builder)) model.Apply(std::move(message));
    Frames(1);
  }
  void Frames(int count) {
    for (int i = 0; i < count; ++i) {
      now_ns += 200'000'000;
      viewer.Step({model, failure}, input, 1'600, height, 0.016, now_ns);
      input.pressed.fill(0);
    }
  }
  void Press(Key key, bool shift = false) {
    input.pressed[static_cast<size_t>(key)] = 1;
    input.shift = shift;
    Frames(3);
    input.shift = false;
  }
  int64_t SelectedStart() const {
    REQUIRE(viewer.selection().has_value());
    return model.lanes()[viewer.selection()->lane]->events.start_ns(viewer.selection()->event);
  }

  TimelineModel model;
  absl::Status failure;
  Viewer viewer{{}};
  Input input;
  double height = 900;
  int64_t now_ns = 0;
};

constexpr int64_t kFirst = 1'000'600'000;  // kernel of SmallSession's stream 7

}  // namespace

TEST_CASE("period and comma step through the selected event's lane") {
  Hands hands;
  hands.viewer.Select(hands.model, EventRef{0, 0});
  CHECK(hands.SelectedStart() == kFirst);
  hands.Press(Key::kPeriod);
  CHECK(hands.SelectedStart() == kFirst + 300'000);
  hands.Press(Key::kPeriod);
  CHECK(hands.SelectedStart() == kFirst + 600'000);
  hands.Press(Key::kComma);
  CHECK(hands.SelectedStart() == kFirst + 300'000);
  hands.Press(Key::kComma);
  hands.Press(Key::kComma);
  CHECK(hands.SelectedStart() == kFirst);
  CHECK(hands.viewer.hint() == "the first event of its lane");
}

TEST_CASE("with shift they step through the events of its name") {
  Hands hands;
  hands.viewer.Select(hands.model, EventRef{0, 2});
  hands.Press(Key::kPeriod, true);
  CHECK(hands.SelectedStart() == kFirst + 4 * 300'000);  // over a layer norm
  hands.Press(Key::kComma, true);
  hands.Press(Key::kComma, true);
  CHECK(hands.SelectedStart() == kFirst + 300'000);
  hands.viewer.Select(hands.model, EventRef{0, 159});
  hands.Press(Key::kPeriod, true);
  CHECK(hands.viewer.hint() == "the last of this name in its lane");
}

TEST_CASE("a step out of the window takes the window along, at the same zoom") {
  Hands hands;
  hands.viewer.Select(hands.model, EventRef{0, 0});
  hands.Press(Key::kF);
  const Wide span = SpanOf(hands.viewer.viewport().shown());
  hands.Press(Key::kPeriod);
  const Window& shown = hands.viewer.viewport().shown();
  CHECK(SpanOf(shown) == span);
  CHECK(shown.start_ns < kFirst + 300'000);
  CHECK(shown.end_ns > kFirst + 550'000);
}

TEST_CASE("a step scrolls to the row of its event") {
  Hands hands(LargeSession(40, 4'000));
  hands.viewer.Select(hands.model, EventRef{39, 0});
  hands.Press(Key::kPeriod);
  const auto& row = hands.viewer.layout().rows()[40];
  REQUIRE(row.lane == 39);
  const double y = row.y - hands.viewer.scroll();
  CHECK(y >= 0);
  CHECK(y + row.height <= hands.viewer.screen().lanes.height);
}

TEST_CASE("without a selection a step says what it needs, and the notice goes away") {
  Hands hands;
  hands.Press(Key::kPeriod);
  CHECK(hands.viewer.hint() == "select an event first: click on a span");
  hands.Frames(40);
  CHECK(hands.viewer.hint().empty());
}

TEST_CASE("a bracket tells of a launch without a row") {
  Hands hands;
  hands.viewer.Select(hands.model, EventRef{0, 0});
  hands.Press(Key::kLeftBracket);
  CHECK(hands.viewer.hint() ==
        "launched 8.104 µs before by thread 4121; calls have no rows in this session");
  CHECK(hands.SelectedStart() == kFirst);
}

TEST_CASE("M measures the selected event, and again not") {
  Hands hands;
  hands.Press(Key::kM);
  CHECK_FALSE(hands.viewer.measured().has_value());
  hands.viewer.Select(hands.model, EventRef{0, 0});
  hands.Press(Key::kM);
  REQUIRE(hands.viewer.measured().has_value());
  CHECK(SpanOf(*hands.viewer.measured()) == 250'000);
  hands.Press(Key::kM);
  CHECK_FALSE(hands.viewer.measured().has_value());
}

TEST_CASE("a drag on the ruler snaps to kernels, and escape clears it before the selection") {
  Hands hands;
  hands.viewer.Select(hands.model, EventRef{0, 0});
  const ScreenLayout& screen = hands.viewer.screen();
  const auto to = [&](int64_t time_ns, double aside) {
    const Window& shown = hands.viewer.viewport().shown();
    hands.input.mouse_x = screen.lanes.x + PixelOf(shown, screen.lanes.width, time_ns) + aside;
    hands.input.mouse_y = screen.ruler.y + 12;
    hands.Frames(1);
  };
  to(1'010'000'000, 3);
  hands.input.left_down = true;
  hands.Frames(1);
  to(1'020'000'000, -2);
  hands.input.left_down = false;
  hands.Frames(1);
  REQUIRE(hands.viewer.measured().has_value());
  CHECK(hands.viewer.measured()->start_ns == 1'010'000'000);
  CHECK(hands.viewer.measured()->end_ns == 1'020'000'000);
  CHECK(hands.viewer.selection().has_value());
  hands.Press(Key::kEscape);
  CHECK_FALSE(hands.viewer.measured().has_value());
  CHECK(hands.viewer.selection().has_value());
  hands.Press(Key::kEscape);
  CHECK_FALSE(hands.viewer.selection().has_value());
}

}  // namespace nanolane::desktop
