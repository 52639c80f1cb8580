#include "clients/desktop/model/viewer.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {
namespace {

constexpr double kWidth = 1'600;
constexpr double kHeight = 900;

// A viewer without a window, and a hand that clicks in it.
class Bench {
 public:
  explicit Bench(ViewerOptions options = {}) : viewer(options) {}

  void Load(const SessionBuilder& builder) {
    for (LoaderMessage& message : LoaderMessages(builder)) model.Apply(std::move(message));
    Frames(1);
  }
  void Frames(int count) {
    for (int i = 0; i < count; ++i) {
      now_ns += 200'000'000;
      viewer.Step({model, failure}, input, kWidth, kHeight, 0.016, now_ns);
      input.pressed.fill(0);
      input.wheel = 0;
    }
  }
  // The screen point at `time_ns` in the row with this label.
  void PointAt(const std::string& label, int64_t time_ns) {
    for (const Row& row : viewer.layout().rows()) {
      if (row.label != label) continue;
      const Rect& lanes = viewer.screen().lanes;
      input.mouse_x = lanes.x + PixelOf(viewer.viewport().shown(), lanes.width, time_ns);
      input.mouse_y = lanes.y + row.y + row.height / 2 - viewer.scroll();
    }
    Frames(1);
  }
  void Click() {
    input.left_down = true;
    Frames(1);
    input.left_down = false;
    Frames(2);
  }

  TimelineModel model;
  absl::Status failure;
  Viewer viewer;
  Input input;
  int64_t now_ns = 0;
};

}  // namespace

TEST_CASE("the viewer opens on the whole session") {
  Bench bench;
  bench.Load(SmallSession());
  CHECK(bench.viewer.scene() == Scene::kTimeline);
  CHECK(bench.viewer.viewport().shown().start_ns <= 1'000'000'000);
  CHECK(bench.viewer.viewport().shown().end_ns >= 1'078'000'000);
}

TEST_CASE("a range opens counted from the session's start") {
  Bench bench({.range = base::TimeRange{2'000'000, 5'000'000}});
  bench.Load(SmallSession());
  CHECK(bench.viewer.viewport().shown().start_ns == 1'002'000'000);
  CHECK(bench.viewer.viewport().shown().end_ns == 1'005'000'000);
}

TEST_CASE("hovering names the span under the cursor") {
  Bench bench;
  bench.Load(SmallSession());
  bench.PointAt("Stream 7", 1'000'700'000);
  REQUIRE(bench.viewer.hover().has_value());
  const HoverCard card =
      CardOf(bench.model, bench.viewer.hover()->event, bench.viewer.hover()->crowd);
  CHECK(card.title == "ampere_sgemm_128x64_tn");
  CHECK(card.lines[0] == "250.000 µs · stream 7 · thread 4121");
}

TEST_CASE("hovering the memory row says what is held") {
  Bench bench;
  bench.Load(SmallSession());
  bench.PointAt("GPU memory", 1'005'000'000);
  CHECK_FALSE(bench.viewer.hover().has_value());
  REQUIRE(bench.viewer.level_hover().has_value());
  CHECK(bench.viewer.level_hover()->level.held == (4LL << 30) + (64LL << 20));
}

TEST_CASE("a click selects a span and zooms onto it, a right click goes back") {
  Bench bench;
  bench.Load(SmallSession());
  const Window before = bench.viewer.viewport().shown();
  bench.PointAt("Stream 7", 1'000'700'000);
  bench.Click();
  REQUIRE(bench.viewer.selection().has_value());
  REQUIRE(bench.viewer.selected_facts().has_value());
  CHECK(bench.viewer.viewport().shown().start_ns == 1'000'475'000);
  CHECK(bench.viewer.viewport().shown().end_ns == 1'000'975'000);
  bench.input.right_down = true;
  bench.Frames(1);
  bench.input.right_down = false;
  bench.Frames(2);
  CHECK(bench.viewer.viewport().shown().start_ns == before.start_ns);
  CHECK(bench.viewer.selection().has_value());
}

TEST_CASE("figures of the selected op follow") {
  Bench bench;
  bench.Load(SmallSession());
  bench.PointAt("Stream 7", 1'000'700'000);
  bench.Click();
  bench.input.right_down = true;
  bench.Frames(1);
  bench.input.right_down = false;
  bench.Frames(3);
  REQUIRE(bench.viewer.figures().op.has_value());
  CHECK(bench.viewer.figures().op->count == 120);
}

TEST_CASE("escape closes the keys first, then clears the selection") {
  Bench bench;
  bench.Load(SmallSession());
  bench.PointAt("Stream 7", 1'000'700'000);
  bench.Click();
  bench.viewer.ToggleKeys();
  bench.input.pressed[static_cast<size_t>(Key::kEscape)] = 1;
  bench.Frames(1);
  CHECK_FALSE(bench.viewer.keys_shown());
  CHECK(bench.viewer.selection().has_value());
  bench.input.pressed[static_cast<size_t>(Key::kEscape)] = 1;
  bench.Frames(1);
  CHECK_FALSE(bench.viewer.selection().has_value());
}

TEST_CASE("F fits the selection, and everything without one") {
  Bench bench;
  bench.Load(SmallSession());
  const Window whole = bench.viewer.viewport().shown();
  bench.viewer.Select(bench.model, EventRef{0, 0});
  bench.input.pressed[static_cast<size_t>(Key::kF)] = 1;
  bench.Frames(2);
  CHECK(SpanOf(bench.viewer.viewport().shown()) == 500'000);
  bench.viewer.Select(bench.model, std::nullopt);
  bench.input.pressed[static_cast<size_t>(Key::kF)] = 1;
  bench.Frames(2);
  CHECK(bench.viewer.viewport().shown().start_ns == whole.start_ns);
}

TEST_CASE("a click on a header collapses its lanes") {
  Bench bench;
  bench.Load(SmallSession());
  bench.input.mouse_x = 40;
  bench.input.mouse_y = bench.viewer.screen().lanes.y + 10;
  bench.Click();
  CHECK(bench.viewer.layout().rows().size() == 1);
}

TEST_CASE("the view stays where the person has put it when loading ends") {
  Bench bench;
  std::vector<LoaderMessage> messages = LoaderMessages(SmallSession());
  bench.model.Apply(messages[0]);
  bench.Frames(1);
  bench.PointAt("Stream 7", 1'020'000'000);
  bench.input.wheel = 3;
  bench.Frames(1);
  const Window zoomed = bench.viewer.viewport().shown();
  for (size_t i = 1; i < messages.size(); ++i) bench.model.Apply(messages[i]);
  bench.Frames(2);
  CHECK(bench.viewer.viewport().shown().start_ns == zoomed.start_ns);
  CHECK(bench.viewer.viewport().shown().end_ns == zoomed.end_ns);
}

TEST_CASE("scrolling stops at the ends of the rows") {
  Bench bench;
  bench.Load(LargeSession(40, 400));
  bench.input.mouse_x = 40;
  bench.input.mouse_y = 400;
  for (int i = 0; i < 100; ++i) {
    bench.input.wheel = -1;
    bench.Frames(1);
  }
  CHECK(bench.viewer.scroll() ==
        bench.viewer.layout().height() - bench.viewer.screen().lanes.height);
  bench.input.wheel = 1'000;
  bench.Frames(1);
  CHECK(bench.viewer.scroll() == 0);
}

TEST_CASE("enter steps through the hits of a search, and around") {
  Bench bench;
  bench.Load(SmallSession());
  bench.viewer.search().SetPattern("layer_norm");
  bench.Frames(1);
  CHECK(bench.viewer.hits().Count(bench.viewer.viewport().shown()) == 40);
  const auto press = [&bench](bool backwards) {
    bench.input.shift = backwards;
    bench.input.pressed[static_cast<size_t>(Key::kEnter)] = 1;
    bench.Frames(1);
    bench.input.shift = false;
    REQUIRE(bench.viewer.selection().has_value());
    const EventRef at = *bench.viewer.selection();
    return bench.model.lanes()[at.lane]->events.start_ns(at.event);
  };
  CHECK(press(false) == 1'001'500'000);
  CHECK(press(false) == 1'002'700'000);
  CHECK(press(true) == 1'001'500'000);
  CHECK(press(true) == 1'076'300'000);  // around the start to the last one
}

TEST_CASE("scenes say why there is no timeline") {
  Bench bench;
  bench.Frames(1);
  CHECK(bench.viewer.scene() == Scene::kConnecting);
  bench.failure = absl::UnavailableError("no server");
  bench.Frames(1);
  CHECK(bench.viewer.scene() == Scene::kNoServer);
  bench.failure = absl::NotFoundError("no sessions");
  bench.Frames(1);
  CHECK(bench.viewer.scene() == Scene::kNoSession);
  bench.failure = absl::PermissionDeniedError("no");
  bench.Frames(1);
  CHECK(bench.viewer.scene() == Scene::kFailed);
  bench.failure = absl::OkStatus();
  bench.Load(SessionBuilder());
  CHECK(bench.viewer.scene() == Scene::kEmpty);
}

TEST_CASE("a window between the events says that nothing is in it") {
  Bench bench({.range = base::TimeRange{8'200'000, 9'900'000}});
  SessionBuilder builder;
  const auto lane =
      builder.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = 7});
  const trace::OpId op = builder.AddKernel("k");
  builder.Add(lane, {.op = op, .start_ns = 0, .duration_ns = 100});
  builder.Add(lane, {.op = op, .start_ns = 20'000'000, .duration_ns = 100});
  bench.Load(builder);
  CHECK(bench.viewer.scene() == Scene::kNoEvents);
}

TEST_CASE("areas of the screen tile the window at any size") {
  for (double height = 160; height < 2'200; height += 53) {
    const ScreenLayout screen = LayOutScreen(1'600, height);
    CHECK(screen.overview.y == screen.top_bar.bottom());
    CHECK(screen.ruler.y == screen.overview.bottom());
    CHECK(screen.lanes.y == screen.ruler.bottom());
    CHECK(screen.details.y == screen.lanes.bottom());
    CHECK(screen.status.y == screen.details.bottom());
    CHECK(screen.lanes.height >= 0);
    CHECK(screen.lanes.x == screen.labels.right());
    if (height >= 500) CHECK(screen.status.bottom() == std::floor(height));
  }
}

}  // namespace nanolane::desktop
