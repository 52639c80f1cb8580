#include "clients/desktop/model/nested_spans.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace nanolane::desktop {
namespace {

using timeline::PixelColumn;
using timeline::Window;

struct Range {
  int64_t start = 0;
  int64_t duration = 0;
};

void Append(NestedSpans& spans, const std::vector<Range>& ranges) {
  std::vector<int64_t> start;
  std::vector<int64_t> duration;
  for (const Range& range : ranges) {
    start.push_back(range.start);
    duration.push_back(range.duration);
  }
  spans.Append(start, duration, std::vector<trace::Category>(start.size(), trace::Category::kNvtx));
}

// Steps with ranges inside, in the order in which they end; now and then a mark, and one that
// lasts for many steps.
std::vector<Range> Steps(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Range> ranges;
  int64_t at = 0;
  int64_t long_since = 0;
  for (size_t step = 0; step < count; ++step) {
    const int64_t begin = at;
    const size_t inner = random() % 6;
    for (size_t i = 0; i < inner; ++i) {
      const auto length = static_cast<int64_t>(random() % 50);
      ranges.push_back({at + 1, length});
      at += length + 2;
    }
    at += 3;
    ranges.push_back({begin, at - begin});
    if (random() % 3 == 0) at += static_cast<int64_t>(random() % 40);
    if (random() % 500 == 0) {
      ranges.push_back({long_since, at - long_since});
      long_since = at;
    }
  }
  return ranges;
}

// What one index of everything, built at once, says of each row.
struct Oracle {
  explicit Oracle(const std::vector<Range>& ranges) {
    timeline::NestedRows nesting;
    for (const Range& range : ranges) nesting.Append({&range.start, 1}, {&range.duration, 1});
    nesting.Update();
    rows.resize(nesting.row_count());
    std::vector<uint32_t> order(ranges.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&ranges](uint32_t a, uint32_t b) {
      return ranges[a].start < ranges[b].start;
    });
    for (const uint32_t i : order) {
      Row& row = rows[nesting.NumberOf(nesting.RowOf(i))];
      const trace::Category category = trace::Category::kNvtx;
      row.index.Append({{&ranges[i].start, 1}, {&ranges[i].duration, 1}, {&category, 1}});
      row.events.push_back(i);
    }
  }
  struct Row {
    timeline::LaneIndex index;
    std::vector<size_t> events;
  };
  std::vector<Row> rows;
};

void RequireSame(const NestedSpans& spans, const Oracle& oracle, int64_t end,
                 std::mt19937_64& random) {
  REQUIRE(spans.row_count() == oracle.rows.size());
  for (int round = 0; round < 8; ++round) {
    const auto start = static_cast<int64_t>(random() % static_cast<uint64_t>(end));
    const Window window{start, start + 1 + static_cast<int64_t>(random() % 4'000)};
    size_t count = 0;
    for (uint32_t row = 0; row < oracle.rows.size(); ++row) {
      const Oracle::Row& expected = oracle.rows[row];
      std::vector<PixelColumn> columns(61);
      std::vector<PixelColumn> right(61);
      spans.Columns(row, window, columns);
      expected.index.Columns(window, right);
      REQUIRE(columns == right);
      REQUIRE(spans.Covered(row, window) == expected.index.Covered(window.start_ns, window.end_ns));
      count += expected.index.Count(window);
      const auto found = spans.EventAt(row, start, 30);
      const auto wanted = expected.index.EventAt(start, 30);
      REQUIRE(found.has_value() == wanted.has_value());
      if (wanted.has_value()) REQUIRE(*found == expected.events[*wanted]);
    }
    REQUIRE(spans.Count(window) == count);
  }
}

}  // namespace

TEST_CASE("ranges that pour in are where one build of all of them puts them") {
  std::mt19937_64 random(5);
  const std::vector<Range> ranges = Steps(8'000, 5);
  REQUIRE(ranges.size() > NestedSpans::kLeastMargin * 5);
  NestedSpans spans;
  std::vector<Range> before;
  while (before.size() < ranges.size()) {
    const size_t count = std::min<size_t>(1 + random() % 3'000, ranges.size() - before.size());
    const auto from = ranges.begin() + static_cast<std::ptrdiff_t>(before.size());
    const std::vector<Range> block(from, from + static_cast<std::ptrdiff_t>(count));
    Append(spans, block);
    before.insert(before.end(), block.begin(), block.end());
    RequireSame(spans, Oracle(before), ranges.back().start + 100, random);
  }
}

TEST_CASE("ranges that come long after others that they hold are where they belong") {
  std::mt19937_64 random(9);
  std::vector<Range> ranges = Steps(9'000, 9);
  const int64_t end = ranges.back().start + 100;
  NestedSpans spans;
  Append(spans, ranges);
  RequireSame(spans, Oracle(ranges), end, random);
  const std::vector<Range> late = {{0, end + 10}, {100, 0}, {end / 2, 7}};
  for (const Range& range : late) {
    Append(spans, {range});
    ranges.push_back(range);
    RequireSame(spans, Oracle(ranges), end, random);
  }
}

TEST_CASE("a block of a long recording costs the last part of it, not all") {
  NestedSpans spans;
  const std::vector<Range> ranges = Steps(60'000, 2);
  size_t at = 0;
  uint64_t blocks = 0;
  std::vector<PixelColumn> columns(10);
  while (at < ranges.size()) {
    const size_t count = std::min<size_t>(500, ranges.size() - at);
    const auto from = ranges.begin() + static_cast<std::ptrdiff_t>(at);
    Append(spans, {from, from + static_cast<std::ptrdiff_t>(count)});
    spans.Columns(0, {0, 1'000}, columns);
    at += count;
    ++blocks;
  }
  // Far below blocks × ranges / 2, which building everything each time would cost.
  CHECK(spans.work() < blocks * ranges.size() / 6);
}

}  // namespace nanolane::desktop
