#include "clients/desktop/model/nearest_data.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "clients/desktop/model/viewer.h"
#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {
namespace {

struct Span {
  int64_t start = 0;
  int64_t end = 0;
};

TimelineModel ModelOf(const std::vector<Span>& spans) {
  SessionBuilder builder;
  const trace::LaneId lane =
      builder.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = 7});
  const trace::OpId op = builder.AddKernel("sgemm");
  for (const Span& span : spans) {
    builder.Add(lane, {.op = op, .start_ns = span.start, .duration_ns = span.end - span.start});
  }
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(builder)) model.Apply(std::move(message));
  return model;
}

}  // namespace

TEST_CASE("the nearest event is the one that a search through all of them finds") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<Span> spans;
    int64_t at = 1'000;
    for (int i = 0; i < 30; ++i) {
      at += 1 + static_cast<int64_t>(random() % 400);
      const auto length = static_cast<int64_t>(1 + random() % 200);
      spans.push_back({at, at + length});
      at += length;
    }
    const TimelineModel model = ModelOf(spans);
    const auto from = static_cast<int64_t>(random() % 12'000);
    const timeline::Window window{from, from + 1 + static_cast<int64_t>(random() % 100)};
    const bool hit = std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
      return span.start < window.end_ns && span.end > window.start_ns;
    });
    if (hit) continue;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const Span& span : spans) {
      least = std::min(least, span.start >= window.end_ns ? span.start - window.end_ns
                                                          : window.start_ns - span.end);
    }
    const auto nearest = NearestTo(model, window);
    REQUIRE(nearest.has_value());
    CHECK(nearest->distance_ns == least);
  }
}

TEST_CASE("a model without events has nothing near") {
  CHECK_FALSE(NearestTo(ModelOf({}), {0, 10}).has_value());
  CHECK_FALSE(NearestTo(TimelineModel(), {0, 10}).has_value());
}

TEST_CASE("from a window without events Enter goes to the nearest one") {
  const TimelineModel model = ModelOf({{1'000, 2'000}, {900'000, 901'000}});
  const absl::Status fine;
  Viewer viewer({.range = base::TimeRange{100'000, 110'000}});
  Input input;
  int64_t now_ns = 0;
  const auto frames = [&](int count) {
    for (int i = 0; i < count; ++i) {
      viewer.Step({model, fine}, input, 1'600, 900, 0.016, now_ns += 200'000'000);
    }
  };
  frames(2);
  REQUIRE(viewer.scene() == Scene::kNoEvents);
  REQUIRE(viewer.nearest().has_value());
  CHECK_FALSE(viewer.nearest()->later);
  CHECK(viewer.nearest()->distance_ns == 101'000 - 2'000);
  input.pressed[static_cast<size_t>(Key::kEnter)] = 1;
  frames(1);
  input.pressed.fill(0);
  frames(3);
  CHECK(viewer.scene() == Scene::kTimeline);
  CHECK(viewer.viewport().shown().end_ns - viewer.viewport().shown().start_ns == 10'000);
  CHECK_FALSE(viewer.nearest().has_value());
}

}  // namespace nanolane::desktop
