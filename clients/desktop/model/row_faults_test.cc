// What breaks other viewers' rows.

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>

#include "clients/desktop/testing/lane_bench.h"
#include "clients/desktop/testing/stack_session.h"

namespace nanolane::desktop {
namespace {

trace::Lane Stream(int64_t stream) {
  return {.kind = trace::LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = stream};
}

// Moves the mouse to a time in a lane and returns the start of the event that is picked.
std::optional<int64_t> PickedAt(LaneBench& bench, const std::string& label, int64_t time_ns) {
  const Rect& lanes = bench.viewer.screen().lanes;
  const LaneBlock& block = *bench.Block(label);
  bench.MoveTo({lanes.x + PixelOf(bench.viewer.viewport().shown(), lanes.width, time_ns),
                lanes.y + block.y + block.height / 2});
  if (!bench.viewer.hover().has_value()) return std::nullopt;
  const EventRef& event = bench.viewer.hover()->event;
  CHECK(event.lane == block.lane);
  return bench.model.lanes()[event.lane]->events.start_ns(event.event);
}

}  // namespace

TEST_CASE("two kernels of one stream that overlap by 1 ns stand in one row, both to be picked") {
  SessionBuilder builder;
  const auto lane = builder.AddLane(Stream(7));
  const auto op = builder.AddKernel("k");
  builder.Add(lane, {.op = op, .start_ns = 0, .duration_ns = 1'000});
  builder.Add(lane, {.op = op, .start_ns = 999, .duration_ns = 1'000});
  LaneBench bench;
  bench.Load(builder);
  CHECK(bench.Block("Stream 7")->row_count == 1);
  CHECK(PickedAt(bench, "Stream 7", 500) == 0);
  CHECK(PickedAt(bench, "Stream 7", 1'500) == 999);
  std::vector<timeline::PixelColumn> columns(1'999);
  bench.model.lanes()[0]->rows.Columns(0, {0, 1'999}, columns);
  int64_t covered = 0;
  for (const auto& column : columns) covered += column.covered_ns;
  CHECK(covered == 1'999);
}

TEST_CASE("kernels that overlap by 1 ns do not cut the frames above them") {
  SessionBuilder builder;
  const auto lane = builder.AddLane(Stream(7));
  const auto op = builder.AddKernel("k");
  for (int64_t i = 0; i < 20; ++i) {
    builder.Add(lane, {.op = op,
                       .start_ns = i * 100,
                       .duration_ns = 101,
                       .stack = AddStack(builder, {"main", i < 10 ? "a" : "b"})});
  }
  LaneBench bench;
  bench.Load(builder);
  bench.Click(bench.LabelPoint("Stream 7"));
  const StackLevels& levels = *bench.viewer.board().stacks().Of(0);
  REQUIRE(levels.spans(0).size() == 2);
  CHECK(levels.spans(0)[0].end_ns == 1'001);
  CHECK(levels.spans(0)[1].start_ns == 1'000);
}

TEST_CASE("two queues at one depth have a row each, and neither hides the other") {
  SessionBuilder builder;
  const auto op = builder.AddKernel("k");
  for (const int64_t stream : {7, 14}) {
    const auto lane = builder.AddLane(Stream(stream));
    builder.Add(lane, {.op = op, .start_ns = stream, .duration_ns = 1'000});
  }
  LaneBench bench;
  bench.Load(builder);
  CHECK(bench.Block("Stream 7")->y + kStreamHeight == bench.Block("Stream 14")->y);
  CHECK(PickedAt(bench, "Stream 7", 500) == 7);
  CHECK(PickedAt(bench, "Stream 14", 500) == 14);
}

TEST_CASE("a synchronization that covers one kernel has a lane of its own beside the stream") {
  SessionBuilder builder;
  const auto stream = builder.AddLane(Stream(7));
  trace::Lane sync = Stream(7);
  sync.kind = trace::LaneKind::kStreamSync;
  const auto waits = builder.AddLane(sync);
  builder.Add(stream, {.op = builder.AddKernel("k"), .start_ns = 100, .duration_ns = 50});
  builder.Add(waits, {.op = builder.AddOp(trace::EventKind::kSync, "cudaStreamSynchronize"),
                      .start_ns = 90,
                      .duration_ns = 70});
  LaneBench bench;
  bench.Load(builder);
  CHECK(bench.Labels() == std::vector<std::string>{"Stream 7", "Stream 7 (sync)"});
  CHECK(PickedAt(bench, "Stream 7", 125) == 100);
  CHECK(PickedAt(bench, "Stream 7 (sync)", 125) == 90);
}

TEST_CASE("an empty lane takes no room until its first event, an empty session has no rows") {
  LaneBench bench;
  bench.Load(SessionBuilder());
  CHECK(bench.viewer.scene() == Scene::kEmpty);
  CHECK(bench.viewer.layout().rows().empty());
  bench.RightClick({40, 300});
  bench.Drag({40, 300}, {40, 400});
  CHECK_FALSE(bench.viewer.board().hand().menu().has_value());

  SessionBuilder builder;
  builder.AddLane(Stream(7));
  const auto lane = builder.AddLane(Stream(14));
  builder.Add(lane, {.op = builder.AddKernel("k"), .start_ns = 0, .duration_ns = 10});
  LaneBench one;
  one.Load(builder);
  CHECK(one.Labels() == std::vector<std::string>{"Stream 14"});
}

TEST_CASE("500 lanes expand in slices, and laying them out again costs nothing while they stand") {
  SessionBuilder builder;
  const auto op = builder.AddKernel("k");
  constexpr int64_t kLanes = 500;
  for (int64_t stream = 0; stream < kLanes; ++stream) {
    const auto lane = builder.AddLane(Stream(stream));
    for (int64_t i = 0; i < 40; ++i) {
      builder.Add(lane, {.op = op,
                         .start_ns = i * 1'000,
                         .duration_ns = 500,
                         .stack = AddStack(
                             builder, {"main", i % 4 < 2 ? "a" : "b", i % 2 == 0 ? "x" : "y"})});
    }
  }
  LaneBench bench;
  bench.Load(builder);
  REQUIRE(bench.viewer.layout().blocks().size() == kLanes);
  for (const LaneBlock& block : std::vector<LaneBlock>(bench.viewer.layout().blocks())) {
    bench.viewer.board().arrangement().SetExpanded(block.key, true);
  }
  const auto began = std::chrono::steady_clock::now();
  bench.Frame();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  std::printf("the frame that expands 500 lanes: %.2f ms\n", took.count());
  CHECK(bench.viewer.layout().rows().size() == 1 + kLanes * 3);
  bench.Settle();
  for (const LaneBlock& block : bench.viewer.layout().blocks()) {
    REQUIRE(bench.viewer.board().stacks().Of(block.lane) != nullptr);
  }
  const uint64_t version = bench.viewer.layout().version();
  bench.Frame();
  CHECK(bench.viewer.layout().version() == version);
}

}  // namespace nanolane::desktop
