// The viewer on a session that is being recorded, without a window.

#include <catch2/catch.hpp>

#include "clients/desktop/model/follow_steps.h"
#include "clients/desktop/model/opening_view.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/testing/live_script.h"

namespace nanolane::desktop {
namespace {

constexpr double kWidth = 1'600;
constexpr double kHeight = 900;

class Bench {
 public:
  explicit Bench(const LiveScript& script)
      : script_(script), steps_(script.summary(), [this](LoaderMessage message) {
          model.Apply(std::move(message));
          return model.status();
        }) {}

  // Takes the next `count` steps, a frame after each.
  void Take(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      REQUIRE(steps_.Take(script_.steps()[next_++]).ok());
      Frames(1);
    }
    if (!steps_.complete()) return;
    model.Apply(StreamEnded{});
    Frames(1);
  }
  void TakeRest() { Take(script_.steps().size() - next_); }
  void Frames(int count) {
    for (int i = 0; i < count; ++i) {
      now_ns += 200'000'000;
      viewer.Step({model, failure}, input, kWidth, kHeight, 0.016, now_ns);
      input.pressed.fill(0);
    }
  }
  void Press(Key key) {
    input.pressed[static_cast<size_t>(key)] = 1;
    Frames(2);
  }
  void ClickAt(const Rect& rect) {
    input.mouse_x = rect.x + rect.width / 2;
    input.mouse_y = rect.y + rect.height / 2;
    input.left_down = true;
    Frames(1);
    input.left_down = false;
    Frames(2);
  }
  bool EndInSight() const {
    const Window& shown = viewer.viewport().shown();
    return shown.end_ns >= model.extent().end_ns && shown.start_ns < model.extent().end_ns;
  }

  TimelineModel model;
  absl::Status failure;
  Viewer viewer{{}};
  Input input;
  int64_t now_ns = 0;

 private:
  const LiveScript& script_;
  FollowSteps steps_;
  size_t next_ = 0;
};

LiveScript Script(size_t state_blocks = 6) {
  return LiveScript(TwoWriters(), {.block_events = 8, .state_blocks = state_blocks, .seed = 4});
}

}  // namespace

TEST_CASE("a recording without events says that it waits, then shows them by itself") {
  const LiveScript script = Script(0);
  Bench bench(script);
  bench.Frames(1);
  CHECK(bench.viewer.scene() == Scene::kConnecting);
  bench.Take(script.state_steps());
  CHECK(bench.viewer.scene() == Scene::kWaiting);
  bench.Press(Key::kW);
  bench.Take(1);
  CHECK(bench.viewer.scene() == Scene::kTimeline);
  CHECK(bench.viewer.viewport().following());
  CHECK(bench.EndInSight());
  bench.TakeRest();
  CHECK(bench.viewer.scene() == Scene::kTimeline);
}

TEST_CASE("the view keeps the newest time in sight until it is moved away") {
  const LiveScript script = Script();
  Bench bench(script);
  bench.Take(script.state_steps() + 4);
  CHECK(bench.viewer.viewport().following());
  CHECK(bench.EndInSight());
  bench.viewer.Select(bench.model, std::nullopt);
  bench.input.mouse_x = bench.viewer.screen().lanes.x + 20;
  bench.input.mouse_y = bench.viewer.screen().lanes.y + 20;
  bench.input.wheel = 8;
  bench.Frames(1);
  bench.input.wheel = 0;
  CHECK_FALSE(bench.viewer.viewport().following());
  const Window there = bench.viewer.viewport().shown();
  bench.Take(6);
  CHECK(bench.viewer.viewport().shown().start_ns == there.start_ns);
  CHECK(bench.viewer.viewport().shown().end_ns == there.end_ns);
}

TEST_CASE("the End key and a click on the badge go on with the newest time") {
  const LiveScript script = Script();
  Bench bench(script);
  bench.Take(script.state_steps() + 1);
  for (const bool by_key : {true, false}) {
    bench.Press(Key::kF);
    bench.input.pressed[static_cast<size_t>(Key::kW)] = 1;
    bench.input.held[static_cast<size_t>(Key::kA)] = true;
    bench.Frames(60);
    bench.input.held.fill(false);
    REQUIRE_FALSE(bench.viewer.viewport().following());
    if (by_key) {
      bench.Press(Key::kEnd);
    } else {
      bench.ClickAt(bench.viewer.screen().live_badge);
    }
    CHECK(bench.viewer.viewport().following());
    CHECK(bench.EndInSight());
  }
}

TEST_CASE("a long recording opens on its newest part and moves on with it") {
  const Window all = NewestWindow({0, 5'000'000'000});
  CHECK(all.start_ns == -100'000'000);
  CHECK(all.end_ns == 5'100'000'000);
  const Window window = NewestWindow({0, 3'600'000'000'000});
  CHECK(SpanOf(window) == kLiveSpanNs);
  CHECK(window.end_ns > 3'600'000'000'000);
}

TEST_CASE("what is in sight when the session ends stays there") {
  const LiveScript script = Script();
  Bench bench(script);
  bench.TakeRest();
  CHECK(bench.model.phase() == TimelineModel::Phase::kComplete);
  CHECK_FALSE(bench.model.recording());
  CHECK_FALSE(bench.viewer.viewport().following());
  CHECK(bench.EndInSight());
  CHECK(bench.model.received_events() == script.summary().events());
}

TEST_CASE("losses that grow while recording are said loudly for a while") {
  const LiveScript script = Script();
  Bench bench(script);
  bench.Take(script.state_steps());
  CHECK_FALSE(bench.viewer.losing());
  SessionFacts facts = bench.model.sessions().front();
  facts.losses.push_back({.kind = trace::EventKind::kKernel, .reason = "full", .count = 7});
  bench.model.Apply(StepEnded{.session = facts, .caught_up = true});
  bench.Frames(1);
  CHECK(bench.viewer.losing());
  bench.Frames(30);
  CHECK_FALSE(bench.viewer.losing());
  CHECK(bench.model.lost_events() == 7);
}

TEST_CASE("figures of a moving view are complete and renewed") {
  const LiveScript script = Script();
  Bench bench(script);
  bench.Take(script.state_steps() + 1);
  bench.Frames(10);
  const auto counted = [&bench] {
    uint64_t count = 0;
    for (const OpTotal& op : bench.viewer.figures().ops) count += op.count;
    return count;
  };
  const uint64_t before = counted();
  CHECK(before > 0);
  bench.Take(20);
  bench.Frames(10);
  CHECK(counted() > before);
}

TEST_CASE("a model that replaces another keeps the view and the selected event") {
  const LiveScript script = Script(12);
  Bench bench(script);
  bench.Take(script.state_steps() + 5);
  bench.viewer.search().SetPattern("gemm");
  bench.Frames(10);
  bench.viewer.SelectTypical(bench.model);
  bench.Frames(10);
  REQUIRE(bench.viewer.selection().has_value());
  const EventFacts selected = *bench.viewer.selected_facts();
  const size_t hits = bench.viewer.hits().Count(bench.model.extent());
  REQUIRE(hits > 0);
  const Window shown = bench.viewer.viewport().shown();

  // The same, in another order of lanes, names and events.
  TimelineModel other(7);
  FollowSteps steps(script.summary(), [&other](LoaderMessage message) {
    if (auto* opened = std::get_if<StreamOpened>(&message)) {
      std::reverse(opened->lanes.begin(), opened->lanes.end());
    }
    other.Apply(std::move(message));
    return other.status();
  });
  for (size_t i = 0; i < script.state_steps() + 5; ++i) REQUIRE(steps.Take(script.steps()[i]).ok());
  for (int frame = 0; frame < 5; ++frame) {
    bench.now_ns += 200'000'000;
    bench.viewer.Step({other, bench.failure}, bench.input, kWidth, kHeight, 0.016, bench.now_ns);
  }
  REQUIRE(bench.viewer.selection().has_value());
  CHECK(bench.viewer.selected_facts()->full_name == selected.full_name);
  CHECK(bench.viewer.selected_facts()->when[0].value == selected.when[0].value);
  CHECK(bench.viewer.hits().Count(other.extent()) == hits);
  CHECK(bench.viewer.viewport().shown().start_ns == shown.start_ns);
  CHECK(bench.viewer.viewport().shown().end_ns == shown.end_ns);
}

}  // namespace nanolane::desktop
