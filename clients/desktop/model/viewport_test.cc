#include "clients/desktop/model/viewport.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

constexpr int64_t kHour = 3'600'000'000'000;

Viewport OpenOn(int64_t start, int64_t end) {
  Viewport viewport;
  viewport.SetBounds({start, end});
  viewport.Open({start, end});
  viewport.Tick(0);
  return viewport;
}

Viewport Live(int64_t start, int64_t end) {
  Viewport viewport = OpenOn(start, end);
  viewport.SetLive(true);
  return viewport;
}

// On the last tenth of a megananosecond, following its end.
Viewport Following() {
  Viewport viewport = Live(0, 1'000'000);
  viewport.Open({902'000, 1'002'000});
  viewport.FollowEndInSight();
  return viewport;
}

bool Is(const Window& window, int64_t start, int64_t end) {
  return window.start_ns == start && window.end_ns == end;
}

}  // namespace

TEST_CASE("zooming keeps the time under the cursor") {
  Viewport viewport = OpenOn(0, 1'000'000);
  viewport.Zoom(0.5, 0.25);
  CHECK(Is(viewport.shown(), 125'000, 625'000));
  viewport.Zoom(2, 0.25);
  CHECK(Is(viewport.shown(), 0, 1'000'000));
}

TEST_CASE("zooming in reaches one nanosecond from an hour and comes back") {
  Viewport viewport = OpenOn(0, kHour);
  const int64_t under_cursor = TimeAt(viewport.shown(), 1'000, 333);
  int steps = 0;
  while (SpanOf(viewport.shown()) > 1 && steps < 1'000) {
    const Wide before = SpanOf(viewport.shown());
    viewport.Zoom(0.8, 0.333);
    REQUIRE(SpanOf(viewport.shown()) < before);
    ++steps;
  }
  CHECK(SpanOf(viewport.shown()) == 1);
  CHECK(std::abs(viewport.shown().start_ns - under_cursor) < 200);  // one rounding per step
  for (; steps > -1'000 && SpanOf(viewport.shown()) < kHour; --steps) {
    const Wide before = SpanOf(viewport.shown());
    viewport.Zoom(1.25, 0.333);
    REQUIRE(SpanOf(viewport.shown()) > before);
  }
  CHECK(SpanOf(viewport.shown()) >= kHour);
}

TEST_CASE("zooming out stops at twice the bounds") {
  Viewport viewport = OpenOn(0, 1'000'000);
  for (int i = 0; i < 100; ++i) viewport.Zoom(1.5, 0.5);
  CHECK(SpanOf(viewport.shown()) == 2'000'000);
}

TEST_CASE("panning keeps some of the data in sight") {
  Viewport viewport = OpenOn(0, 1'000'000);
  for (int i = 0; i < 100; ++i) viewport.Pan(1'000, 1'000);
  CHECK(viewport.shown().start_ns == 900'000);
  for (int i = 0; i < 100; ++i) viewport.Pan(-1'000, 1'000);
  CHECK(viewport.shown().end_ns == 100'000);
}

TEST_CASE("parts of a nanosecond add up while panning") {
  Viewport viewport = OpenOn(0, 1'000'000);
  viewport.Open({500, 510});  // a hundredth of a nanosecond per pixel
  for (int i = 0; i < 300; ++i) viewport.Pan(1, 1'000);
  CHECK(viewport.shown().start_ns == 503);
}

TEST_CASE("a run of wheel clicks is one step back") {
  Viewport viewport = OpenOn(0, 1'000'000);
  for (int i = 0; i < 5; ++i) {
    viewport.Tick(i * int64_t{10'000'000});
    viewport.Zoom(0.8, 0.5);
  }
  CHECK(viewport.Back());
  CHECK(Is(viewport.target(), 0, 1'000'000));
  CHECK_FALSE(viewport.Back());
}

TEST_CASE("a pause begins a new step") {
  Viewport viewport = OpenOn(0, 1'000'000);
  viewport.Zoom(0.5, 0);
  viewport.Tick(Viewport::kGesturePauseNs);
  viewport.Zoom(0.5, 0);
  CHECK(Is(viewport.target(), 0, 250'000));
  CHECK(viewport.Back());
  CHECK(Is(viewport.target(), 0, 500'000));
  CHECK(viewport.Back());
  CHECK(Is(viewport.target(), 0, 1'000'000));
}

TEST_CASE("forward undoes back until something else moves the view") {
  Viewport viewport = OpenOn(0, 1'000'000);
  viewport.Jump({100, 200});
  viewport.Jump({110, 120});
  CHECK(viewport.Back());
  CHECK(Is(viewport.target(), 100, 200));
  CHECK(viewport.Forward());
  CHECK(Is(viewport.target(), 110, 120));
  CHECK(viewport.Back());
  viewport.Jump({500, 600});
  CHECK_FALSE(viewport.Forward());
}

TEST_CASE("the history forgets its oldest steps") {
  Viewport viewport = OpenOn(0, 1'000'000'000);
  for (int64_t i = 0; i < 1'000; ++i) viewport.Jump({i * 1'000, i * 1'000 + 500});
  size_t steps = 0;
  while (viewport.Back()) ++steps;
  CHECK(steps == Viewport::kMaxHistory);
}

TEST_CASE("a jump glides and ends exactly at its target") {
  Viewport viewport = OpenOn(0, kHour);
  viewport.Tick(1'000);
  viewport.Jump({1'234'567'891, 1'234'567'899});
  CHECK(viewport.gliding());
  viewport.Tick(1'000 + Viewport::kGlideNs / 2);
  CHECK(viewport.gliding());
  CHECK(viewport.shown().start_ns > 0);
  CHECK(viewport.shown().start_ns <= 1'234'567'891);
  viewport.Tick(1'000 + Viewport::kGlideNs);
  CHECK_FALSE(viewport.gliding());
  CHECK(Is(viewport.shown(), 1'234'567'891, 1'234'567'899));
}

TEST_CASE("a jump to an instant shows a microsecond around it") {
  Viewport viewport = OpenOn(0, 1'000'000);
  viewport.JumpToSpan(5'000, 5'000, 0.5);
  CHECK(Is(viewport.target(), 4'000, 6'000));
}

TEST_CASE("a span's margin is part of the span on each side") {
  Viewport viewport = OpenOn(0, 1'000'000);
  viewport.JumpToSpan(10'000, 20'000, 0.5);
  CHECK(Is(viewport.target(), 5'000, 25'000));
}

TEST_CASE("windows stay valid whatever is done, to the ends of int64") {
  std::mt19937_64 random(11);
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();
  for (const Window bounds : {Window{kLow, kHigh}, Window{kHigh - 10, kHigh},
                              Window{kLow, kLow + 3}, Window{0, 0}, Window{-5, kHigh}}) {
    Viewport viewport;
    viewport.SetBounds(bounds);
    viewport.Open(bounds);
    for (int64_t i = 0; i < 2'000; ++i) {
      viewport.Tick(i * 7'000'000);
      switch (random() % 7) {
        case 5: {
          viewport.SetLive(true);
          const auto grown = static_cast<int64_t>(random());
          viewport.Grow({bounds.start_ns, std::max(viewport.bounds().end_ns, grown)});
          break;
        }
        case 6: viewport.FollowEnd(); break;
        case 0:
          viewport.Zoom(random() % 2 == 0 ? 0.3 : 3.1, static_cast<double>(random() % 101) / 100);
          break;
        case 1: viewport.Pan(static_cast<double>(random() % 2'001) - 1'000, 777); break;
        case 2:
          viewport.Jump({static_cast<int64_t>(random()), static_cast<int64_t>(random())});
          break;
        case 3: viewport.Back(); break;
        case 4: viewport.Forward(); break;
      }
      REQUIRE(viewport.shown().end_ns > viewport.shown().start_ns);
      REQUIRE(viewport.target().end_ns > viewport.target().start_ns);
    }
  }
}

TEST_CASE("a view that follows the end moves as far as the end does") {
  Viewport viewport = Live(0, 1'000'000);
  viewport.Open({900'000, 1'002'000});
  viewport.FollowEndInSight();
  REQUIRE(viewport.following());
  viewport.Grow({0, 1'300'000});
  CHECK(Is(viewport.shown(), 1'200'000, 1'302'000));
  CHECK_FALSE(viewport.can_go_back());
  CHECK_FALSE(viewport.touched());
}

TEST_CASE("panning away from the end stops the following, panning back goes on with it") {
  Viewport viewport = Following();
  viewport.Pan(-300, 1'000);
  CHECK_FALSE(viewport.following());
  const Window there = viewport.shown();
  viewport.Grow({0, 1'010'000});
  CHECK(Is(viewport.shown(), there.start_ns, there.end_ns));
  viewport.Pan(400, 1'000);
  CHECK(viewport.following());
}

TEST_CASE("zooming in elsewhere stops the following, zooming out keeps the right edge") {
  Viewport viewport = Following();
  const int64_t right = viewport.shown().end_ns;
  viewport.Zoom(2, 0.3);
  CHECK(viewport.following());
  CHECK(viewport.shown().end_ns == right);
  viewport.Zoom(0.5, 0.3);
  CHECK_FALSE(viewport.following());
  viewport.Zoom(4, 0.5);
  CHECK_FALSE(viewport.following());
}

TEST_CASE("jumps and steps of the history stop the following") {
  Viewport viewport = Following();
  viewport.Jump({100'000, 200'000});
  CHECK_FALSE(viewport.following());
  viewport.FollowEnd();
  CHECK(viewport.following());
  CHECK(viewport.Back());
  CHECK_FALSE(viewport.following());
  viewport.Jump({950'000, 1'000'000});
  CHECK_FALSE(viewport.following());
}

TEST_CASE("going to the end keeps the zoom and leaves a little room") {
  Viewport viewport = Following();
  viewport.Jump({100'000, 200'000});
  viewport.FollowEnd();
  CHECK(viewport.following());
  CHECK(Is(viewport.target(), 902'000, 1'002'000));
  // The end moves on while the view glides to it.
  viewport.Grow({0, 1'050'000});
  viewport.Tick(Viewport::kGlideNs);
  CHECK(Is(viewport.shown(), 952'000, 1'052'000));
}

TEST_CASE("what is not live is not followed") {
  Viewport viewport = OpenOn(0, 1'000'000);
  viewport.FollowEnd();
  viewport.FollowEndInSight();
  CHECK_FALSE(viewport.following());
  Viewport ended = Following();
  ended.SetLive(false);
  CHECK_FALSE(ended.following());
}

TEST_CASE("pixels and times are inverse within a nanosecond at epoch times") {
  const Window window{1'670'000'000'123'456'789, 1'670'000'000'123'556'789};
  for (int64_t offset = 0; offset < 100'000; offset += 7'919) {
    const int64_t time = window.start_ns + offset;
    const double x = PixelOf(window, 1'432, time);
    CHECK(std::abs(TimeAt(window, 1'432, x) - time) <= 1);
  }
}

}  // namespace nanolane::desktop
