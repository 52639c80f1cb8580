// How lanes are arranged: by the arrangement itself, and by mouse and keys over their labels.

#include "clients/desktop/model/lane_arrangement.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "clients/desktop/testing/lane_bench.h"
#include "clients/desktop/testing/stack_session.h"

namespace nanolane::desktop {
namespace {

using Names = std::vector<std::string>;

// A GPU's streams 7, 8, 9, the first two with synchronizations; calls of two threads; memory.
SessionBuilder ManyLanes() {
  SessionBuilder builder;
  const trace::OpId op = builder.AddKernel("k");
  const auto add = [&](const trace::Lane& lane) {
    builder.Add(builder.AddLane(lane), {.op = op, .start_ns = 0, .duration_ns = 10});
  };
  for (const int64_t stream : {7, 8, 9}) {
    add({.kind = trace::LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = stream});
  }
  for (const int64_t stream : {7, 8}) {
    add({.kind = trace::LaneKind::kStreamSync, .gpu_index = 0, .context = 1, .stream = stream});
  }
  add({.kind = trace::LaneKind::kNoStreamSync, .gpu_index = 0});
  add({.kind = trace::LaneKind::kThreadApi, .thread = 100});
  add({.kind = trace::LaneKind::kThreadApi, .thread = 101});
  return builder;
}

const Names kNatural = {"Stream 7", "Stream 7 (sync)",  "Stream 8", "Stream 8 (sync)",
                        "Stream 9", "No stream (sync)", "2 threads"};

}  // namespace

TEST_CASE("units that were not moved stand after the one that they naturally follow") {
  LaneArrangement arrangement;
  arrangement.SetOrder("g", {"c", "a", "d"});
  CHECK(arrangement.Ordered("g", {"a", "b", "c", "d", "e"}) == Names{"c", "a", "b", "d", "e"});
  CHECK(arrangement.Ordered("g", {"0", "a", "c"}) == Names{"0", "c", "a"});
  CHECK(arrangement.Ordered("g", {"d"}) == Names{"d"});
  CHECK(arrangement.Ordered("other", {"a", "b"}) == Names{"a", "b"});
}

TEST_CASE("streams stand with their synchronizations beside them, those of no stream after all") {
  LaneBench bench;
  bench.Load(ManyLanes());
  CHECK(bench.Labels() == kNatural);
}

TEST_CASE("calls of threads are on demand where there are GPU lanes, by label and by row") {
  LaneBench bench;
  bench.Load(ManyLanes());
  bench.Click(bench.LabelPoint("2 threads"));
  CHECK(bench.Labels().size() == kNatural.size() + 2);
  CHECK(bench.Labels().back() == "Thread 101 (API)");
  // The text runs into the lanes: a click there does the same.
  Point in_lanes = bench.LabelPoint("2 threads");
  in_lanes.x = bench.viewer.screen().lanes.x + 20;
  bench.Click(in_lanes);
  CHECK(bench.Labels() == kNatural);
}

TEST_CASE("calls of threads are there at once where nothing else is") {
  LaneBench bench;
  SessionBuilder builder;
  builder.Add(builder.AddLane({.kind = trace::LaneKind::kThreadApi, .thread = 100}),
              {.op = builder.AddOp(trace::EventKind::kApi, "cudaMalloc"), .duration_ns = 10});
  bench.Load(builder);
  REQUIRE(bench.Labels().size() == 1);
  CHECK(bench.viewer.layout().rows().back().kind == RowKind::kApi);
}

TEST_CASE("a label is dragged among its siblings, a stream with its synchronizations") {
  LaneBench bench;
  bench.Load(ManyLanes());
  Point below_nine = bench.LabelPoint("Stream 9");
  below_nine.y += 10;
  bench.Drag(bench.LabelPoint("Stream 7 (sync)"), below_nine);
  CHECK(bench.Labels() == Names{"Stream 8", "Stream 8 (sync)", "Stream 9", "Stream 7",
                                "Stream 7 (sync)", "No stream (sync)", "2 threads"});
  // Up again, above the first.
  Point top = bench.LabelPoint("Stream 8");
  top.y -= 14;
  bench.Drag(bench.LabelPoint("Stream 7"), top);
  CHECK(bench.Labels() == kNatural);
}

TEST_CASE("while a label is dragged the place where it would go is known, and escape gives up") {
  LaneBench bench;
  bench.Load(ManyLanes());
  bench.MoveTo(bench.LabelPoint("Stream 7"));
  bench.input.left_down = true;
  bench.Frame();
  Point below = bench.LabelPoint("Stream 8");
  below.y += 30;
  bench.MoveTo(below);
  REQUIRE(bench.viewer.board().hand().move().has_value());
  CHECK(bench.viewer.board().hand().move()->line == bench.Block("Stream 9")->y);
  bench.Press(Key::kEscape);
  bench.input.left_down = false;
  bench.Settle();
  CHECK_FALSE(bench.viewer.board().hand().move().has_value());
  CHECK(bench.Labels() == kNatural);
}

TEST_CASE("the menu of a label moves, pins, hides; what cannot be done is not offered") {
  LaneBench bench;
  bench.Load(ManyLanes());
  CHECK_FALSE(bench.Choose("Stream 7", "Move up"));
  bench.Press(Key::kEscape);
  CHECK(bench.Choose("Stream 7", "Move down"));
  CHECK(bench.Labels()[0] == "Stream 8");
  CHECK(bench.Choose("Stream 7 (sync)", "Move up"));
  CHECK(bench.Labels() == kNatural);
  CHECK_FALSE(bench.Choose("Stream 7", "Expand"));
}

TEST_CASE("a menu has the mouse until it closes, by escape or a click beside it") {
  LaneBench bench;
  bench.Load(ManyLanes());
  const Window before = bench.viewer.viewport().shown();
  const auto open = [&bench] { return bench.viewer.board().hand().menu().has_value(); };
  bench.RightClick(bench.LabelPoint("Stream 7"));
  REQUIRE(open());
  bench.Press(Key::kEscape);
  CHECK_FALSE(open());
  bench.RightClick(bench.LabelPoint("Stream 7"));
  const Rect& lanes = bench.viewer.screen().lanes;
  bench.Click({lanes.x + 700, lanes.y + 40});  // a span lies there: nobody clicks it
  CHECK_FALSE(open());
  CHECK_FALSE(bench.viewer.selection().has_value());
  CHECK(bench.viewer.viewport().shown().start_ns == before.start_ns);
}

TEST_CASE("hidden lanes are counted, and come back by the strip") {
  LaneBench bench;
  bench.Load(ManyLanes());
  const Rect strip = HiddenStrip(bench.viewer.screen());
  bench.Click({strip.x + 20, strip.y + 8});
  CHECK(bench.viewer.layout().hidden_lanes() == 0);
  CHECK(bench.Choose("Stream 8", "Hide"));
  CHECK(bench.Choose("Stream 9", "Hide"));
  CHECK(bench.viewer.layout().hidden_lanes() == 2);
  CHECK(bench.Labels().size() == kNatural.size() - 2);
  bench.Click({strip.x + 20, strip.y + 8});
  CHECK(bench.Labels() == kNatural);
  CHECK(bench.Choose("Stream 8", "Hide"));
  CHECK(bench.Choose("Stream 9", "Show 1 hidden"));
  CHECK(bench.Labels() == kNatural);
}

TEST_CASE("a pinned lane stays under the ruler while the rest scrolls") {
  LaneBench bench;
  bench.Load(LargeSession(60, 600));
  REQUIRE(bench.Choose("Stream 9", "Pin to the top"));
  const RowLayout& layout = bench.viewer.layout();
  REQUIRE(layout.blocks()[0].label == "Stream 9");
  CHECK(layout.blocks()[0].pinned);
  CHECK(layout.stuck_height() == kStreamHeight);
  CHECK(std::count_if(layout.blocks().begin(), layout.blocks().end(),
                      [](const LaneBlock& block) { return block.label == "Stream 9"; }) == 1);
  bench.MoveTo({40, 500});
  bench.input.wheel = -10;
  bench.Settle();
  REQUIRE(bench.viewer.scroll() > 300);
  const double top = bench.viewer.screen().lanes.y;
  const Rect& lanes = bench.viewer.screen().lanes;
  CHECK(bench.LabelPoint("Stream 9").y < top + kStreamHeight);
  // What is under the mouse there is the pinned lane, not what has scrolled under it.
  const std::optional<size_t> row = layout.RowOnScreen(20, bench.viewer.scroll());
  REQUIRE(row.has_value());
  CHECK(layout.rows()[*row].label == "Stream 9");
  bench.MoveTo({lanes.x + 300, top + 24});
  if (bench.viewer.hover().has_value()) {
    CHECK(bench.viewer.hover()->event.lane == layout.blocks()[0].lane);
  }
  REQUIRE(bench.Choose("Stream 9", "Unpin"));
  CHECK(layout.stuck_height() == 0);
}

TEST_CASE("pinned lanes keep their own order, and leave room for the rest") {
  LaneBench bench;
  bench.Load(LargeSession(60, 600));
  for (const int stream : {12, 9, 18}) {
    REQUIRE(bench.Choose("Stream " + std::to_string(stream), "Pin to the top"));
  }
  const auto first = [&bench](size_t count) {
    Names labels = bench.Labels();
    labels.resize(count);
    return labels;
  };
  CHECK(first(3) == Names{"Stream 12", "Stream 9", "Stream 18"});
  REQUIRE(bench.Choose("Stream 18", "Move up"));
  CHECK(first(3) == Names{"Stream 12", "Stream 18", "Stream 9"});
  const double room = bench.viewer.screen().lanes.height;
  for (int stream = 31; stream < 50; ++stream) {
    bench.viewer.board().arrangement().SetPinned(
        bench.Block("Stream " + std::to_string(stream))->key, true);
    bench.Settle();
  }
  CHECK(bench.viewer.layout().stuck_height() <= room * RowLayout::kMostPinned);
  CHECK(bench.viewer.layout().stuck_height() > room / 2);
}

TEST_CASE("a click on a label expands the stream's stacks, and collapses them again") {
  LaneBench bench;
  bench.Load(StackSession(400, 4));
  const LaneBlock* stream = bench.Block("Stream 7");
  REQUIRE(stream != nullptr);
  CHECK(stream->levels == 4);
  CHECK(stream->folded == 3);
  CHECK_FALSE(stream->expanded);
  CHECK(stream->row_count == 1);
  CHECK_FALSE(bench.Block("Stream 14")->expandable());
  bench.Click(bench.LabelPoint("Stream 7"));
  stream = bench.Block("Stream 7");
  CHECK(stream->expanded);
  CHECK(stream->row_count == 5);
  CHECK(stream->height == kStackMargin + 4 * kStackHeight + kStreamHeight);
  const auto& rows = bench.viewer.layout().rows();
  for (size_t i = 0; i < 4; ++i) {
    CHECK(rows[stream->first_row + i].kind == RowKind::kStack);
    CHECK(rows[stream->first_row + i].depth == i);
  }
  CHECK(rows[stream->first_row + 4].kind == RowKind::kStream);
  CHECK(bench.viewer.board().stacks().Of(stream->lane) != nullptr);
  bench.Click(bench.LabelPoint("Stream 7"));
  CHECK(bench.Block("Stream 7")->row_count == 1);
  CHECK(bench.viewer.board().stacks().Of(stream->lane) == nullptr);
}

TEST_CASE("nested ranges collapse to their outermost row") {
  LaneBench bench;
  bench.Load(SmallSession());
  REQUIRE(bench.Block("NVTX")->row_count == 2);
  bench.Click(bench.LabelPoint("NVTX"));
  CHECK(bench.Block("NVTX")->row_count == 1);
  CHECK(bench.Block("NVTX")->levels == 1);
}

TEST_CASE("a frame under the mouse says what it is and what ran under it; a click zooms onto it") {
  LaneBench bench;
  bench.Load(StackSession(400, 4));
  bench.Click(bench.LabelPoint("Stream 7"));
  const LaneBlock block = *bench.Block("Stream 7");
  const StackLevels& levels = *bench.viewer.board().stacks().Of(block.lane);
  const StackSpan span = levels.spans(1)[3];
  const Rect& lanes = bench.viewer.screen().lanes;
  const Row& row = bench.viewer.layout().rows()[block.first_row + 1];
  const auto x = [&](int64_t time_ns) {
    return lanes.x + PixelOf(bench.viewer.viewport().shown(), lanes.width, time_ns);
  };
  const Point point{x((span.start_ns + span.end_ns) / 2), lanes.y + row.y + 8};
  bench.MoveTo(point);
  REQUIRE(bench.viewer.frame_hover().has_value());
  CHECK(bench.viewer.frame_hover()->span == 3);
  CHECK_FALSE(bench.viewer.hover().has_value());
  const HoverCard card = CardOf(bench.model, bench.viewer.board().stacks(),
                                bench.viewer.board().SpanOf(*bench.viewer.frame_hover()));
  CHECK(card.title == "f1_0");
  CHECK(card.language == trace::Language::kCpp);
  CHECK(card.lines == Names{"c++", "31.000 µs, 16.000 µs of it on the GPU", "16 kernels under it"});
  bench.Click(point);
  const Window shown = bench.viewer.viewport().shown();
  CHECK(shown.start_ns <= span.start_ns);
  CHECK(shown.end_ns >= span.end_ns);
  CHECK(SpanOf(shown) < (span.end_ns - span.start_ns) * 11 / 10);
  CHECK_FALSE(bench.viewer.selection().has_value());
}

TEST_CASE("the label of a tall block stays in sight") {
  SessionBuilder builder;
  const auto lane = builder.AddLane(
      {.kind = trace::LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = 7});
  const trace::OpId op = builder.AddKernel("k");
  for (int64_t i = 0; i < 8; ++i) {
    Names frames(40, "f");
    frames[0] = i < 4 ? "a" : "b";
    builder.Add(
        lane,
        {.op = op, .start_ns = i * 100, .duration_ns = 50, .stack = AddStack(builder, frames)});
  }
  LaneBench bench;
  bench.Load(builder);
  bench.Click(bench.LabelPoint("Stream 7"));
  const double start = bench.LabelPoint("Stream 7").y;
  bench.MoveTo({40, 400});
  bench.input.wheel = -4;
  bench.Settle();
  REQUIRE(bench.viewer.scroll() == 240);
  const Rect& lanes = bench.viewer.screen().lanes;
  CHECK(bench.LabelPoint("Stream 7").y >= lanes.y);
  CHECK(bench.LabelPoint("Stream 7").y < start);
}

TEST_CASE("an arrangement survives a reload and lanes that come later") {
  LaneBench bench;
  bench.Load(ManyLanes());
  REQUIRE(bench.Choose("Stream 8", "Pin to the top"));
  REQUIRE(bench.Choose("Stream 9", "Move up"));
  REQUIRE(bench.Choose("No stream (sync)", "Hide"));
  const Names arranged = bench.Labels();
  // The same session, of another generation, with a lane more.
  SessionBuilder grown = ManyLanes();
  grown.Add(
      grown.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = 10}),
      {.op = grown.AddKernel("k"), .start_ns = 0, .duration_ns = 10});
  TimelineModel again(1);
  for (LoaderMessage& message : LoaderMessages(grown)) again.Apply(std::move(message));
  bench.viewer.Step({again, bench.failure}, bench.input, 1'600, 900, 0.016, 1);
  bench.viewer.Step({again, bench.failure}, bench.input, 1'600, 900, 0.016, 2);
  Names expected = arranged;
  expected.insert(std::find(expected.begin(), expected.end(), "Stream 9") + 1, "Stream 10");
  CHECK(bench.Labels() == expected);
  CHECK(bench.viewer.layout().hidden_lanes() == 1);
}

}  // namespace nanolane::desktop
