#include "libs/timeline/tiles/plan_rows.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "libs/timeline/lane_shapes.h"
#include "libs/timeline/tiles/tile_test_lane.h"

namespace nanolane::timeline {
namespace {

TileSpan RandomSpan(LaneMaker& make, int64_t range) {
  const int64_t start = make.Int(0, range);
  return {start, start + (make.OneIn(4) ? 0 : make.Log(10)), static_cast<uint32_t>(make.Int(0, 9))};
}

uint64_t UnionLength(std::vector<TileSpan> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const TileSpan& a, const TileSpan& b) { return a.start_ns < b.start_ns; });
  uint64_t length = 0;
  int64_t covered_to = std::numeric_limits<int64_t>::min();
  for (const TileSpan& span : spans) {
    const int64_t from = std::max(span.start_ns, covered_to);
    if (span.end_ns <= from) continue;
    length += static_cast<uint64_t>(span.end_ns - from);
    covered_to = span.end_ns;
  }
  return length;
}

bool IsDisjoint(const std::vector<TileSpan>& spans) {
  return std::adjacent_find(spans.begin(), spans.end(), [](const TileSpan& a, const TileSpan& b) {
           return b.start_ns < a.end_ns;
         }) == spans.end();
}

std::vector<TileSpan> Series(int64_t from, size_t count) {
  std::vector<TileSpan> spans;
  for (size_t i = 0; i < count; ++i) {
    spans.push_back({from, from + 10, 0});
    from += 15;
  }
  return spans;
}

}  // namespace

TEST_CASE("the covering rows of all steps are disjoint and cover the union of all events") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    LaneMaker make(seed);
    TestLane lane;
    std::vector<TileSpan> all;
    const int64_t range = make.Log(16);
    for (int64_t steps = make.Int(1, 6); steps > 0; --steps) {
      std::vector<TileSpan> step;
      for (int64_t i = make.Int(0, 300); i > 0; --i) step.push_back(RandomSpan(make, range));
      all.insert(all.end(), step.begin(), step.end());
      REQUIRE(lane.Seal(step).ok());
    }
    std::vector<TileSpan> covered;
    REQUIRE(lane.Visit(-1, 1 << 20,
                       [&](int64_t start, int64_t end) {
                         if (start < end) covered.push_back({start, end, 0});
                       })
                .ok());
    std::sort(covered.begin(), covered.end(),
              [](const TileSpan& a, const TileSpan& b) { return a.start_ns < b.start_ns; });
    REQUIRE(IsDisjoint(covered));
    uint64_t total = 0;
    for (const TileSpan& span : covered) total += span.length();
    REQUIRE(total == UnionLength(all));
  }
}

TEST_CASE("every event of a step goes to one row, and rows are disjoint") {
  LaneMaker make(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<TileSpan> step;
    const int64_t range = make.Log(14);
    for (int64_t i = make.Int(1, 500); i > 0; --i) step.push_back(RandomSpan(make, range));
    TestLane empty;
    const auto plan = PlanRows(step, empty);
    REQUIRE(plan.ok());
    std::vector<TileSpan> planned;
    for (const PlannedRow& row : *plan) {
      REQUIRE(!row.spans.empty());
      if (row.kind != RowKind::kLoose) REQUIRE(IsDisjoint(row.spans));
      if (row.kind == RowKind::kCover) continue;
      planned.insert(planned.end(), row.spans.begin(), row.spans.end());
    }
    const auto less = [](const TileSpan& a, const TileSpan& b) {
      return std::tie(a.start_ns, a.end_ns, a.label) < std::tie(b.start_ns, b.end_ns, b.label);
    };
    std::sort(planned.begin(), planned.end(), less);
    std::sort(step.begin(), step.end(), less);
    REQUIRE(planned == step);
  }
}

TEST_CASE("events of a stream make one row, which covers") {
  TestLane lane;
  const auto plan = PlanRows(Series(0, 1'000), lane);
  REQUIRE(plan.ok());
  REQUIRE(plan->size() == 1);
  CHECK(plan->front().role.covers);
}

TEST_CASE("late events leave the first row to those that come after the cover") {
  TestLane lane;
  REQUIRE(lane.Seal(Series(0, 1'000)).ok());
  std::vector<TileSpan> step = Series(20'000, 1'000);
  step.push_back({8, 12, 0});  // of which [10, 12) is new
  const auto plan = PlanRows(step, lane);
  REQUIRE(plan.ok());
  REQUIRE(plan->size() == 3);
  CHECK((*plan)[0].spans.size() == 1'000);
  CHECK((*plan)[0].role.covers);
  CHECK(!(*plan)[1].role.covers);
  CHECK((*plan)[2].kind == RowKind::kCover);
  CHECK((*plan)[2].spans == std::vector<TileSpan>{{10, 12, 0}});
}

TEST_CASE("what fits in none of the rows is loose") {
  TestLane lane;
  std::vector<TileSpan> step;
  for (int64_t i = 0; i < 40; ++i) step.push_back({i, 1'000 + i, 0});
  const auto plan = PlanRows(step, lane);
  REQUIRE(plan.ok());
  REQUIRE(plan->size() == kMaxRows + 2);
  CHECK((*plan)[kMaxRows].kind == RowKind::kLoose);
  CHECK((*plan)[kMaxRows].spans.size() == 40 - kMaxRows);
  CHECK((*plan)[kMaxRows + 1].spans == std::vector<TileSpan>{{1'000, 1'039, 0}});
}

TEST_CASE("an instant fits before the span that starts with it") {
  TestLane lane;
  const auto plan = PlanRows({{0, 10, 0}, {10, 20, 1}, {10, 10, 2}, {20, 20, 3}}, lane);
  REQUIRE(plan.ok());
  REQUIRE(plan->size() == 1);
  CHECK(plan->front().spans ==
        std::vector<TileSpan>{{0, 10, 0}, {10, 10, 2}, {10, 20, 1}, {20, 20, 3}});
}

}  // namespace nanolane::timeline
