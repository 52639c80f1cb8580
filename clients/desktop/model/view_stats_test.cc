#include "clients/desktop/model/view_stats.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {
namespace {

using timeline::Window;
using trace::LaneKind;

void Feed(TimelineModel& model, const SessionBuilder& builder) {
  for (LoaderMessage& message : LoaderMessages(builder)) model.Apply(std::move(message));
}

const ViewFigures& Answer(ViewStats& stats, const TimelineModel& model,
                          const ViewStats::Question& question, size_t slice = 1'000) {
  while (!stats.Work(model, question, slice)) {
  }
  return stats.figures();
}

// Two streams of one GPU: [0,100) [300,400) and [50,150) [600,700).
TimelineModel TwoStreams() {
  SessionBuilder builder;
  const trace::OpId a = builder.AddKernel("a");
  const trace::OpId b = builder.AddKernel("b");
  const auto first = builder.AddLane({.kind = LaneKind::kStream, .gpu_index = 0, .stream = 7});
  const auto second = builder.AddLane({.kind = LaneKind::kStream, .gpu_index = 0, .stream = 8});
  builder.Add(first, {.op = a, .start_ns = 0, .duration_ns = 100});
  builder.Add(first, {.op = b, .start_ns = 300, .duration_ns = 100});
  builder.Add(second, {.op = a, .start_ns = 50, .duration_ns = 100});
  builder.Add(second, {.op = a, .start_ns = 600, .duration_ns = 100});
  TimelineModel model;
  Feed(model, builder);
  return model;
}

}  // namespace

TEST_CASE("busy time is the union of a GPU's streams") {
  const TimelineModel model = TwoStreams();
  ViewStats stats;
  const ViewFigures& figures = Answer(stats, model, {.window = {0, 1'000}, .lane = {}});
  CHECK(figures.busy_share == Approx(0.35));
}

TEST_CASE("the largest gap lies between events, not at the window's ends") {
  const TimelineModel model = TwoStreams();
  ViewStats stats;
  const ViewFigures& figures = Answer(stats, model, {.window = {-5'000, 5'000}, .lane = {}});
  REQUIRE(figures.largest_gap.has_value());
  CHECK(figures.largest_gap->start_ns == 400);
  CHECK(figures.largest_gap->end_ns == 600);
}

TEST_CASE("ops are ranked by their time inside the window") {
  const TimelineModel model = TwoStreams();
  ViewStats stats;
  const ViewFigures& figures = Answer(stats, model, {.window = {75, 380}, .lane = {}});
  REQUIRE(figures.ops.size() == 2);
  CHECK(model.names().Full(figures.ops[0].name) == "a");
  CHECK(figures.ops[0].clipped_ns == 100);  // 25 of the first, 75 of the second
  CHECK(figures.ops[0].count == 2);
  CHECK(figures.ops[1].clipped_ns == 80);
}

TEST_CASE("the selected op's percentiles are nearest-rank over whole durations") {
  SessionBuilder builder;
  const trace::OpId op = builder.AddKernel("a");
  const auto lane = builder.AddLane({.kind = LaneKind::kStream, .gpu_index = 0, .stream = 7});
  for (int64_t i = 1; i <= 20; ++i) {
    builder.Add(lane, {.op = op, .start_ns = i * 1'000, .duration_ns = i * 10});
  }
  TimelineModel model;
  Feed(model, builder);
  ViewStats stats;
  const ViewFigures& figures = Answer(
      stats, model, {.window = {0, 100'000}, .lane = 0, .op = model.lanes()[0]->events.name(0)});
  REQUIRE(figures.op.has_value());
  CHECK(figures.op->count == 20);
  CHECK(figures.op->p50_ns == 100);
  CHECK(figures.op->p95_ns == 190);
  CHECK(figures.op->min_ns == 10);
  CHECK(figures.op->max_ns == 200);
  CHECK(figures.op->total_ns == 2'100);
  CHECK(figures.op->points.size() == 20);
}

TEST_CASE("figures do not depend on how the work is sliced") {
  const SessionBuilder builder = LargeSession(3, 9'000);
  TimelineModel model;
  Feed(model, builder);
  ViewStats whole;
  ViewStats sliced;
  const ViewStats::Question question{.window = {100'000, 9'000'000}, .lane = 1, .op = 5};
  const ViewFigures& a = Answer(whole, model, question, 1 << 20);
  const ViewFigures& b = Answer(sliced, model, question, 17);
  CHECK(a.busy_share == b.busy_share);
  CHECK(a.ops_clipped_ns == b.ops_clipped_ns);
  REQUIRE(a.ops.size() == b.ops.size());
  CHECK(a.op->p95_ns == b.op->p95_ns);
}

TEST_CASE("the former answer stays until the next one is complete") {
  const SessionBuilder builder = LargeSession(1, 5'000);
  TimelineModel model;
  Feed(model, builder);
  ViewStats stats;
  Answer(stats, model, {.window = {0, 1'000'000}, .lane = {}});
  CHECK_FALSE(stats.Work(model, {.window = {0, 2'000'000}, .lane = {}}, 100));
  CHECK(stats.figures().window.end_ns == 1'000'000);
  CHECK(stats.working());
}

TEST_CASE("busy time and gaps equal a naive count at random spans") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 40; ++round) {
    SessionBuilder builder;
    const trace::OpId op = builder.AddKernel("k");
    std::vector<bool> busy(1'000, false);
    for (int stream = 0; stream < 3; ++stream) {
      const auto lane =
          builder.AddLane({.kind = LaneKind::kStream, .gpu_index = 0, .stream = stream});
      for (int i = 0; i < 12; ++i) {
        const auto start = static_cast<int64_t>(random() % 900);
        const auto duration = static_cast<int64_t>(random() % 60);
        builder.Add(lane, {.op = op, .start_ns = start, .duration_ns = duration});
        for (int64_t t = start; t < start + duration; ++t) busy[static_cast<size_t>(t)] = true;
      }
    }
    TimelineModel model;
    Feed(model, builder);
    ViewStats stats;
    const ViewFigures& figures = Answer(stats, model, {.window = {0, 1'000}, .lane = {}}, 5);
    const auto count = static_cast<double>(std::count(busy.begin(), busy.end(), true));
    CHECK(figures.busy_share == Approx(count / 1'000));
    if (!figures.largest_gap.has_value()) continue;
    for (int64_t t = figures.largest_gap->start_ns; t < figures.largest_gap->end_ns; ++t) {
      REQUIRE_FALSE(busy[static_cast<size_t>(t)]);
    }
  }
}

}  // namespace nanolane::desktop
