// What is known to break timeline viewers, as far as it concerns level of detail: each a test.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "libs/timeline/lane_index.h"
#include "libs/timeline/lane_shapes.h"

namespace nanolane::timeline {
namespace {

using trace::Category;

constexpr int64_t kEpoch = 1'670'000'000'000'000'000;
constexpr int64_t kHour = 3'600'000'000'000;

std::vector<PixelColumn> ColumnsOf(const LaneIndex& lane, const Window& window, size_t width) {
  std::vector<PixelColumn> columns(width);
  lane.Columns(window, columns);
  return columns;
}

// With the batch's events appended.
LaneIndex LaneOf(const LaneEvents& events) {
  LaneIndex lane;
  lane.Append(events.All());
  return lane;
}

uint64_t SumOfStarts(const std::vector<PixelColumn>& columns) {
  uint64_t sum = 0;
  for (const PixelColumn& column : columns) sum += column.starts;
  return sum;
}

TEST_CASE("two kernels of one stream that overlap by 1 ns are both counted and both seen") {
  LaneEvents events;
  events.Add(kEpoch, 100, Category::kGemm);
  events.Add(kEpoch + 99, 100, Category::kAttention);
  const LaneIndex lane = LaneOf(events);
  REQUIRE(lane.busy_ns() == 199);
  REQUIRE(lane.Count({kEpoch + 99, kEpoch + 100}) == 2);
  const auto columns = ColumnsOf(lane, {kEpoch, kEpoch + 200}, 200);
  for (size_t i = 0; i < 199; ++i) {
    REQUIRE(columns[i].covered_ns == 1);
    REQUIRE(columns[i].dominant == (i < 100 ? Category::kGemm : Category::kAttention));
  }
  REQUIRE_FALSE(columns[199].present);
  REQUIRE(lane.EventAt(kEpoch + 98, 0) == 0);
  REQUIRE(lane.EventAt(kEpoch + 99, 0) == 1);
}

TEST_CASE("a synchronization that covers exactly one kernel hides nothing") {
  LaneEvents events;
  events.Add(kEpoch, 1'000, Category::kSync);
  events.Add(kEpoch, 1'000, Category::kGemm);
  events.Add(kEpoch + 2'000, 10, Category::kSync);
  const LaneIndex lane = LaneOf(events);
  REQUIRE(lane.busy_ns() == 1'010);
  const auto columns = ColumnsOf(lane, {kEpoch, kEpoch + 4'000}, 4);
  REQUIRE(columns[0].starts == 2);
  REQUIRE(columns[0].covered_ns == 1'000);
  REQUIRE(columns[0].dominant == Category::kGemm);  // a tie, to the lower category
  REQUIRE(columns[2].dominant == Category::kSync);
  REQUIRE(lane.EventAt(kEpoch + 500, 0) == 1);
}

TEST_CASE("zero-duration events out of order, some touching a neighbour, are each in one column") {
  LaneEvents events;
  events.Add(kEpoch + 100, 50, Category::kGemm);
  events.Add(kEpoch + 150, 0, Category::kMemset);  // touches the end
  events.Add(kEpoch + 100, 0, Category::kMemset);  // touches the start
  events.Add(kEpoch + 120, 0, Category::kMemset);  // inside
  events.Add(kEpoch + 10, 0, Category::kH2D);      // alone, late
  events.Add(kEpoch + 150, 50, Category::kGemm);   // starts where an instant is
  const LaneIndex lane = LaneOf(events);
  REQUIRE(lane.busy_ns() == 100);
  const auto columns = ColumnsOf(lane, {kEpoch, kEpoch + 300}, 300);
  const std::vector<std::pair<size_t, uint32_t>> expected = {{10, 1}, {100, 2}, {120, 1}, {150, 2}};
  for (const auto& [column, starts] : expected) REQUIRE(columns[column].starts == starts);
  REQUIRE(SumOfStarts(columns) == 6);
  REQUIRE(columns[10].dominant == Category::kH2D);
  REQUIRE(columns[100].dominant == Category::kGemm);
  REQUIRE_FALSE(columns[9].present);
  REQUIRE_FALSE(columns[11].present);
  REQUIRE_FALSE(columns[200].present);
}

TEST_CASE("on a zoom sweep from 1 h to 1 ns over 100,000 zero-duration events nothing vanishes") {
  LaneMaker make(5);
  std::vector<int64_t> times;
  times.reserve(100'000);
  for (int i = 0; i < 100'000; ++i) times.push_back(kEpoch + make.Int(0, kHour));
  LaneEvents events;
  for (const int64_t time : times) events.Add(time, 0, make.AnyOf(7));
  const LaneIndex lane = LaneOf(events);
  std::sort(times.begin(), times.end());
  const auto between = [&](int64_t from, int64_t to) {
    return static_cast<uint32_t>(std::lower_bound(times.begin(), times.end(), to) -
                                 std::lower_bound(times.begin(), times.end(), from));
  };
  constexpr uint32_t kWidth = 1'600;
  for (int64_t length = kHour; length > 0; length = length * 2 / 3) {
    // Around one of the events, so that deep zooms see some.
    const int64_t at = times[static_cast<size_t>(make.Int(0, 99'999))];
    const int64_t start = at - make.Int(0, length - 1);
    const Window window = {start, start + length};
    const auto columns = ColumnsOf(lane, window, kWidth);
    REQUIRE(SumOfStarts(columns) == between(window.start_ns, window.end_ns));
    for (uint32_t i = 0; i < kWidth; ++i) {
      const int64_t left = ColumnEdge(window, kWidth, i);
      const bool first = i == 0 || ColumnEdge(window, kWidth, i - 1) != left;
      const int64_t right = std::max(ColumnEdge(window, kWidth, i + 1), left + 1);
      REQUIRE(columns[i].starts == (first ? between(left, right) : 0));
      REQUIRE(columns[i].present == (columns[i].starts > 0));
      REQUIRE(columns[i].covered_ns == 0);
    }
  }
}

TEST_CASE("100,000 zero-duration events at one time are seen at every zoom") {
  LaneEvents events;
  for (int i = 0; i < 100'000; ++i) events.Add(kEpoch, 0, Category::kMemset);
  const LaneIndex lane = LaneOf(events);
  for (int64_t length = kHour; length > 0; length /= 2) {
    for (const size_t width : {1U, 7U, 1'600U}) {
      const int64_t start = kEpoch - length / 3;
      const auto columns = ColumnsOf(lane, {start, start + length}, width);
      REQUIRE(std::count_if(columns.begin(), columns.end(),
                            [](const PixelColumn& c) { return c.present; }) == 1);
      REQUIRE(SumOfStarts(columns) == 100'000);
    }
  }
}

TEST_CASE("below 1 ns per column a span is solid in all its columns and an instant in one") {
  LaneEvents events;
  events.Add(kEpoch + 1, 1, Category::kGemm);
  events.Add(kEpoch + 3, 0, Category::kMemset);
  const LaneIndex lane = LaneOf(events);
  const Window window = {kEpoch, kEpoch + 4};
  const auto columns = ColumnsOf(lane, window, 16);  // 4 columns per nanosecond
  int64_t covered = 0;
  for (uint32_t i = 0; i < 16; ++i) {
    CAPTURE(i);
    const int64_t extent = ColumnEdge(window, 16, i + 1) - ColumnEdge(window, 16, i);
    const bool in_span = i >= 4 && i < 8;
    REQUIRE(columns[i].present == (in_span || i == 12));
    REQUIRE(CoverageShare(columns[i], extent) == (in_span ? 1.0 : 0.0));
    if (in_span) REQUIRE(columns[i].dominant == Category::kGemm);
    covered += columns[i].covered_ns;
  }
  REQUIRE(columns[12].dominant == Category::kMemset);
  REQUIRE(covered == 1);
  REQUIRE(SumOfStarts(columns) == 2);
}

TEST_CASE("one event at time 0 among epoch times stays where it is and moves no other") {
  LaneMaker make(3);
  LaneEvents events = make.Stream({.events = 1'000, .start_ns = kEpoch});
  const LaneIndex without = LaneOf(events);
  events.Add(0, 0, Category::kMemset);
  const LaneIndex lane = LaneOf(events);
  REQUIRE(lane.first_ns() == 0);
  REQUIRE(lane.busy_ns() == without.busy_ns());
  const auto all = ColumnsOf(lane, {0, lane.last_ns() + 1}, 1'600);
  REQUIRE(all.front().starts == 1);
  REQUIRE(all.back().starts == 1'000);
  REQUIRE(std::none_of(all.begin() + 1, all.end() - 1,
                       [](const PixelColumn& column) { return column.present; }));
  const Window fit = {kEpoch, lane.last_ns()};
  REQUIRE(ColumnsOf(lane, fit, 1'600) == ColumnsOf(without, fit, 1'600));
}

TEST_CASE("negative times are times, and an end before the start makes an instant at the start") {
  LaneEvents events;
  events.Add(-1'000, 100, Category::kGemm);
  events.Add(-500, -300, Category::kH2D);
  events.Add(-1, 2, Category::kD2H);
  const LaneIndex lane = LaneOf(events);
  REQUIRE(lane.first_ns() == -1'000);
  REQUIRE(lane.last_ns() == 1);
  REQUIRE(lane.busy_ns() == 102);
  const auto columns = ColumnsOf(lane, {-1'000, 1'000}, 20);
  for (size_t i = 0; i < columns.size(); ++i) {
    CAPTURE(i);
    REQUIRE(columns[i].present == (i == 0 || i == 5 || i == 9 || i == 10));
  }
  REQUIRE(columns[5].dominant == Category::kH2D);
  REQUIRE(columns[5].covered_ns == 0);
  REQUIRE(columns[9].covered_ns == 1);
  REQUIRE(columns[10].covered_ns == 1);
  REQUIRE(columns[10].starts == 0);
}

TEST_CASE("an end beyond int64 is held there") {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  LaneEvents events;
  events.Add(kMax - 10, kMax, Category::kGemm);
  events.Add(std::numeric_limits<int64_t>::min(), kMax, Category::kH2D);
  const LaneIndex lane = LaneOf(events);
  REQUIRE(lane.last_ns() == kMax);
  REQUIRE(lane.Covered(kMax - 20, kMax) == 10);
  REQUIRE(lane.busy_ns() == kMax);  // saturates
}

TEST_CASE("an empty lane, an empty range and a reversed range hold nothing") {
  LaneIndex lane;
  lane.Append({});
  REQUIRE(lane.size() == 0);
  REQUIRE(lane.first_ns() == 0);
  REQUIRE(lane.last_ns() == 0);
  REQUIRE(lane.busy_ns() == 0);
  REQUIRE(lane.Covered(-5, 5) == 0);
  REQUIRE(lane.Count({0, 100}) == 0);
  REQUIRE_FALSE(lane.EventAt(0, 100).has_value());
  REQUIRE(ColumnsOf(lane, {0, 100}, 3) == std::vector<PixelColumn>(3));
  LaneEvents events;
  events.Add(0, 100);
  events.Add(50, 0);
  lane.Append(events.All());
  for (const Window window : {Window{50, 50}, Window{60, 40}}) {
    REQUIRE(lane.Covered(window.start_ns, window.end_ns) == 0);
    REQUIRE(lane.Count(window) == 0);
    REQUIRE(ColumnsOf(lane, window, 3) == std::vector<PixelColumn>(3));
  }
}

}  // namespace
}  // namespace nanolane::timeline
