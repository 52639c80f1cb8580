#include "clients/desktop/view/lanes_view.h"

#include <catch2/catch.hpp>

#include "clients/desktop/testing/lane_bench.h"
#include "clients/desktop/testing/stack_session.h"

namespace nanolane::desktop {
namespace {

const absl::Status kWell;

const Theme& Dark() { return ThemeOf(ThemeName::kDark); }

void ScrollBy(LaneBench& bench, double clicks) {
  bench.MoveTo({40, 500});
  bench.input.wheel = -clicks;
  bench.Settle();
}

}  // namespace

TEST_CASE("of 500 lanes, each expanded, only the rows in sight are painted") {
  SessionBuilder builder;
  const auto op = builder.AddKernel("k");
  for (int64_t stream = 0; stream < 500; ++stream) {
    const auto lane = builder.AddLane(
        {.kind = trace::LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = stream});
    for (int64_t i = 0; i < 10; ++i) {
      builder.Add(lane, {.op = op,
                         .start_ns = i * 1'000,
                         .duration_ns = 500,
                         .stack = AddStack(builder, {"main", i % 2 == 0 ? "a" : "b"})});
    }
  }
  LaneBench bench;
  bench.Load(builder);
  for (const LaneBlock& block : std::vector<LaneBlock>(bench.viewer.layout().blocks())) {
    bench.viewer.board().arrangement().SetExpanded(block.key, true);
  }
  bench.Settle();
  LanesView view;
  view.Prepare(bench.viewer, {bench.model, kWell}, Dark());
  // Two rows a lane, 62 pixels together, and one of each at the edges.
  const auto in_sight = static_cast<uint64_t>(bench.viewer.screen().lanes.height / 62 * 2) + 3;
  CHECK(view.atlas().painted() <= in_sight);
  CHECK(view.atlas().painted() >= in_sight - 5);
  const uint64_t painted = view.atlas().painted();
  view.Prepare(bench.viewer, {bench.model, kWell}, Dark());
  CHECK(view.atlas().painted() == painted);
}

TEST_CASE("however many rows were in sight before, the atlas stays small") {
  LaneBench bench;
  bench.Load(LargeSession(4'600, 4'600));
  LanesView view;
  for (int i = 0; i < 360; ++i) {
    view.Prepare(bench.viewer, {bench.model, kWell}, Dark());
    REQUIRE(view.atlas().height() <= 2 * LaneAtlas::kMostHeight);
    ScrollBy(bench, 9);
  }
  REQUIRE(bench.viewer.scroll() > 180'000);
}

TEST_CASE("a level of stacks is painted from the union of its spans, in its language's colour") {
  LaneBench bench;
  bench.Load(StackSession(4'000, 3));
  bench.Click(bench.LabelPoint("Stream 7"));
  const LaneBlock& block = *bench.Block("Stream 7");
  const StackLevels& levels = *bench.viewer.board().stacks().Of(block.lane);
  const timeline::Window window = bench.viewer.viewport().shown();
  const RowStyle style = Dark().row_style();
  constexpr uint32_t kColumns = 1'111;
  LaneAtlas atlas;
  atlas.Begin(window, kColumns, 1, style);
  for (uint32_t level = 0; level < 3; ++level) {
    const Row& row = bench.viewer.layout().rows()[block.first_row + level];
    const LaneAtlas::Place place = atlas.PaintStack(&levels, 1, row);
    const Rgba color =
        Dark().GroundOfLanguage(level % 2 == 0 ? trace::Language::kPython : trace::Language::kCpp);
    size_t wrong = 0;
    for (uint32_t i = 0; i < kColumns; ++i) {
      const int64_t left = timeline::ColumnEdge(window, kColumns, i);
      const int64_t right = timeline::ColumnEdge(window, kColumns, i + 1);
      int64_t covered = 0;
      for (const StackSpan& span : levels.spans(level)) {
        covered +=
            std::max<int64_t>(0, std::min(right, span.end_ns) - std::max(left, span.start_ns));
      }
      const auto share =
          static_cast<uint32_t>((covered * 255 + (right - left) / 2) / (right - left));
      const Rgba expected = covered == 0 ? 0 : WithAlpha(color, std::max(share, 90U));
      wrong += atlas.TexelRow(place.first)[i] != expected ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
}

}  // namespace nanolane::desktop
