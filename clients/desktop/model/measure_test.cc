// Measuring with the mouse on the ruler, and what edges snap to.
#include "clients/desktop/model/measure.h"

#include <catch2/catch.hpp>
#include <random>

#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {
namespace {

constexpr timeline::Window kShown{0, 1'432'000};  // a microsecond per pixel

class Hand {
 public:
  void At(double lanes_x, double y) {
    input_.mouse_x = screen_.lanes.x + lanes_x;
    input_.mouse_y = y;
    measure.Step(input_, screen_, kShown, snap);
  }
  void OnRuler(double lanes_x) { At(lanes_x, screen_.ruler.y + 10); }
  void Button(bool down) {
    input_.left_down = down;
    measure.Step(input_, screen_, kShown, snap);
  }

  Measure measure;
  Measure::Snap snap = [](int64_t time_ns, int64_t) { return time_ns; };

 private:
  ScreenLayout screen_ = LayOutScreen(1'600, 900);
  Input input_;
};

}  // namespace

TEST_CASE("a drag on the ruler measures a range that stays until it is cleared") {
  Hand hand;
  hand.OnRuler(300);
  hand.Button(true);
  CHECK_FALSE(hand.measure.range().has_value());
  hand.OnRuler(100);
  hand.At(120, 500);  // the drag goes on outside the ruler
  REQUIRE(hand.measure.range().has_value());
  hand.Button(false);
  hand.OnRuler(700);
  CHECK(hand.measure.range()->start_ns == Approx(120'000).margin(1));
  CHECK(hand.measure.range()->end_ns == 300'000);
  CHECK(hand.measure.Clear());
  CHECK_FALSE(hand.measure.range().has_value());
  CHECK_FALSE(hand.measure.Clear());
}

TEST_CASE("a click on the ruler and a drag elsewhere measure nothing") {
  Hand hand;
  hand.OnRuler(300);
  hand.Button(true);
  hand.OnRuler(304);
  hand.Button(false);
  CHECK_FALSE(hand.measure.range().has_value());
  hand.At(300, 400);
  hand.Button(true);
  hand.At(500, 400);
  hand.OnRuler(500);
  hand.Button(false);
  CHECK_FALSE(hand.measure.range().has_value());
}

TEST_CASE("both ends of a measured range snap") {
  Hand hand;
  hand.snap = [](int64_t time_ns, int64_t slop_ns) {
    CHECK(slop_ns == 6'000);
    return (time_ns + 50'000) / 100'000 * 100'000;
  };
  hand.OnRuler(310);
  hand.Button(true);
  hand.OnRuler(490);
  hand.Button(false);
  REQUIRE(hand.measure.range().has_value());
  CHECK(hand.measure.range()->start_ns == 300'000);
  CHECK(hand.measure.range()->end_ns == 500'000);
}

TEST_CASE("the nearest edge of disjoint spans equals a look at all of them") {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    SessionBuilder builder;
    const trace::OpId op = builder.AddKernel("k");
    std::vector<int64_t> edges;
    for (int64_t stream = 0; stream < 3; ++stream) {
      const auto lane =
          builder.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = stream});
      int64_t at = 0;
      for (int i = 0; i < 40; ++i) {
        at += static_cast<int64_t>(random() % 60);
        const auto length = static_cast<int64_t>(random() % 40);
        builder.Add(lane, {.op = op, .start_ns = at, .duration_ns = length});
        edges.push_back(at);
        edges.push_back(at + length);
        at += length;
      }
    }
    TimelineModel model;
    for (LoaderMessage& message : LoaderMessages(builder)) model.Apply(std::move(message));
    RowLayout layout;
    layout.Update(model);
    for (int64_t time = -20; time < 2'000; time += 3) {
      const int64_t slop = 9;
      int64_t least = slop + 1;
      for (const int64_t edge : edges) least = std::min(least, std::abs(edge - time));
      const int64_t found = NearestEdge(model, layout, 0, 1'000, time, slop);
      CAPTURE(time, found);
      REQUIRE(std::abs(found - time) == (least > slop ? 0 : least));
    }
  }
}

TEST_CASE("rows out of sight do not attract the edges") {
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(SmallSession())) model.Apply(std::move(message));
  RowLayout layout;
  layout.Update(model);
  CHECK(NearestEdge(model, layout, 0, 900, 1'000'000'010, 100) == 1'000'000'000);
  CHECK(NearestEdge(model, layout, layout.rows_height(), 900, 1'000'000'010, 100) == 1'000'000'010);
}

}  // namespace nanolane::desktop
