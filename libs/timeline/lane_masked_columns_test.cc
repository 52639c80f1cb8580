// Columns of some categories against the oracle fed with these events alone.
#include <catch2/catch.hpp>

#include "libs/timeline/lane_index.h"
#include "libs/timeline/lane_index_oracle.h"
#include "libs/timeline/lane_shapes.h"

namespace nanolane::timeline {
namespace {

void RequireEqual(const LaneIndex& lane, const LaneOracle& wanted, uint32_t categories,
                  const Window& window, uint32_t width) {
  std::vector<PixelColumn> columns(width);
  REQUIRE(lane.ColumnsOf(categories, window, columns));
  const std::vector<PixelColumn> expected = wanted.Columns(window, width);
  for (uint32_t i = 0; i < width; ++i) {
    CAPTURE(window.start_ns, window.end_ns, width, i);
    REQUIRE(columns[i].present == expected[i].present);
    REQUIRE(columns[i].covered_ns == expected[i].covered_ns);
    REQUIRE(columns[i].edge_covered == expected[i].edge_covered);
    REQUIRE((columns[i].starts > 0) == (expected[i].starts > 0));
    if (expected[i].present) REQUIRE(columns[i].dominant == expected[i].dominant);
  }
}

}  // namespace

TEST_CASE("columns of some categories equal the oracle of their events") {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    LaneMaker make(seed);
    const size_t size = static_cast<size_t>(make.Int(1, seed % 10 == 0 ? 20'000 : 300));
    const LaneEvents events = make.Stream({.events = size,
                                           .categories = static_cast<int>(make.Int(1, 14)),
                                           .longest_gap_ns = seed % 3 == 0 ? 0 : 4'000,
                                           .longest_ns = seed % 4 == 0 ? 3 : 40'000,
                                           .instant_one_in = seed % 2 == 0 ? 4 : 0});
    LaneIndex lane;
    lane.Append(events.All());
    for (int round = 0; round < 10; ++round) {
      const auto categories = static_cast<uint32_t>(make.Int(0, (1 << trace::kCategoryCount) - 1));
      LaneOracle wanted;
      for (size_t i = 0; i < events.size(); ++i) {
        const auto category = static_cast<unsigned>(events.category[i]);
        if ((categories >> category & 1U) != 0) wanted.Append(events.Batch(i, 1));
      }
      for (int i = 0; i < 4; ++i) {
        const int64_t length = make.Log(28);
        const int64_t start = make.Int(lane.first_ns() - length, lane.last_ns());
        RequireEqual(lane, wanted, categories, {start, start + length},
                     static_cast<uint32_t>(make.Int(1, 400)));
      }
    }
  }
}

TEST_CASE("a lane whose spans overlap does not answer for some of its categories") {
  LaneEvents events;
  events.Add(0, 10, trace::Category::kGemm);
  events.Add(9, 10, trace::Category::kMemset);
  LaneIndex lane;
  lane.Append(events.All());
  std::vector<PixelColumn> columns(4);
  CHECK_FALSE(
      lane.ColumnsOf(1U << static_cast<unsigned>(trace::Category::kGemm), {0, 20}, columns));
}

}  // namespace nanolane::timeline
