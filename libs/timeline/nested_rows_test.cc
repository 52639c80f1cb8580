#include "libs/timeline/nested_rows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "libs/timeline/lane_shapes.h"

namespace nanolane::timeline {
namespace {

using Row = NestedRows::Row;

struct Ranges {
  std::vector<int64_t> start;
  std::vector<int64_t> duration;

  size_t size() const { return start.size(); }
  void Add(int64_t s, int64_t d) {
    start.push_back(s);
    duration.push_back(d);
  }
  int64_t End(size_t i) const {
    const Wide end = Wide{start[i]} + std::max<int64_t>(duration[i], 0);
    return static_cast<int64_t>(std::min<Wide>(end, std::numeric_limits<int64_t>::max()));
  }
  void AppendTo(NestedRows& rows, size_t from, size_t count) const {
    rows.Append(std::span(start).subspan(from, count), std::span(duration).subspan(from, count));
  }
};

// The definition, in quadratic time.
std::vector<Row> Expected(const Ranges& ranges) {
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (ranges.start[a] != ranges.start[b]) return ranges.start[a] < ranges.start[b];
    return ranges.End(a) > ranges.End(b);
  });
  std::vector<Row> rows(ranges.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t index = order[i];
    for (uint32_t layer = 0;; ++layer) {
      uint32_t open = 0;
      bool nests = true;
      for (size_t j = 0; j < i; ++j) {
        if (rows[order[j]].layer != layer) continue;
        if (ranges.End(order[j]) <= ranges.start[index]) continue;
        ++open;
        nests = nests && ranges.End(order[j]) >= ranges.End(index);
      }
      if (!nests) continue;
      rows[index] = {layer, open};
      break;
    }
  }
  return rows;
}

std::vector<Row> All(const NestedRows& rows) {
  std::vector<Row> result;
  for (size_t i = 0; i < rows.size(); ++i) result.push_back(rows.RowOf(i));
  return result;
}

std::vector<Row> RowsOf(const Ranges& ranges) {
  NestedRows rows;
  ranges.AppendTo(rows, 0, ranges.size());
  rows.Update();
  return All(rows);
}

Ranges AnyRanges(LaneMaker& make) {
  Ranges ranges;
  const int64_t count = make.Int(0, 60);
  const int64_t spread = make.Log(12);
  const int64_t longest = make.Log(10);
  const bool extreme = make.OneIn(10);
  for (int64_t i = 0; i < count; ++i) {
    if (extreme) {
      ranges.Add(make.Int(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()),
                 make.Int(-1, std::numeric_limits<int64_t>::max()));
    } else {
      ranges.Add(make.Int(0, spread), make.OneIn(6) ? 0 : make.Int(-1, longest));
    }
  }
  return ranges;
}

TEST_CASE("nested ranges lie as deep as the number of ranges around them") {
  Ranges ranges;
  ranges.Add(0, 100);
  ranges.Add(10, 50);
  ranges.Add(20, 10);
  ranges.Add(40, 10);
  ranges.Add(70, 30);
  ranges.Add(100, 10);
  REQUIRE(RowsOf(ranges) == std::vector<Row>{{0, 0}, {0, 1}, {0, 2}, {0, 2}, {0, 1}, {0, 0}});
}

TEST_CASE("a range that crosses another gets a row outside the nesting, with its own children") {
  Ranges ranges;
  ranges.Add(0, 100);   // A
  ranges.Add(10, 30);   // in A
  ranges.Add(80, 100);  // crosses A
  ranges.Add(130, 20);  // alone in layer 0: A has ended
  ranges.Add(90, 60);   // crosses A, in the crossing one
  REQUIRE(RowsOf(ranges) == std::vector<Row>{{0, 0}, {0, 1}, {1, 0}, {0, 0}, {1, 1}});
}

TEST_CASE("equal ranges nest in the order of arrival") {
  Ranges ranges;
  for (int i = 0; i < 3; ++i) ranges.Add(5, 10);
  REQUIRE(RowsOf(ranges) == std::vector<Row>{{0, 0}, {0, 1}, {0, 2}});
}

TEST_CASE("marks nest in what is open and share a row with marks of the same time") {
  Ranges ranges;
  ranges.Add(0, 10);
  ranges.Add(0, 0);  // where a range starts: in it
  ranges.Add(5, 0);
  ranges.Add(5, 0);
  ranges.Add(10, 0);  // where it ends: after it
  ranges.Add(5, -7);
  REQUIRE(RowsOf(ranges) == std::vector<Row>{{0, 0}, {0, 1}, {0, 1}, {0, 1}, {0, 0}, {0, 1}});
}

TEST_CASE("ranges that arrive when they end move inwards as outer ones come") {
  NestedRows rows;
  Ranges ranges;
  ranges.Add(10, 10);
  ranges.Add(30, 10);
  ranges.Add(5, 50);
  ranges.Add(200, 10);
  ranges.AppendTo(rows, 0, 2);
  REQUIRE(rows.Update().empty());
  REQUIRE(rows.row_count() == 1);
  ranges.AppendTo(rows, 2, 2);
  REQUIRE(rows.Update() == std::vector<uint32_t>{0, 1});
  REQUIRE(All(rows) == std::vector<Row>{{0, 1}, {0, 1}, {0, 0}, {0, 0}});
  REQUIRE(rows.row_count() == 2);
}

TEST_CASE("rows equal the definition however the ranges are cut into blocks") {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    LaneMaker make(seed);
    const Ranges ranges = AnyRanges(make);
    NestedRows rows;
    std::vector<Row> before;
    const int64_t largest = make.Log(6);
    for (size_t done = 0; done < ranges.size();) {
      const size_t count =
          std::min(ranges.size() - done, static_cast<size_t>(make.Int(0, largest)));
      ranges.AppendTo(rows, done, count);
      done += count;
      const std::vector<uint32_t> moved = rows.Update();
      Ranges so_far;
      for (size_t i = 0; i < done; ++i) so_far.Add(ranges.start[i], ranges.duration[i]);
      const std::vector<Row> now = All(rows);
      REQUIRE(now == Expected(so_far));
      const std::set<uint32_t> said(moved.begin(), moved.end());
      REQUIRE(said.size() == moved.size());
      for (uint32_t i = 0; i < before.size(); ++i) {
        REQUIRE(said.contains(i) == !(now[i] == before[i]));
      }
      before = now;
    }
  }
}

TEST_CASE("rows are numbered layer by layer without holes") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    LaneMaker make(seed);
    const Ranges ranges = AnyRanges(make);
    NestedRows rows;
    for (size_t i = 0; i < ranges.size(); ++i) {
      ranges.AppendTo(rows, i, 1);
      rows.Update();
    }
    std::set<size_t> numbers;
    for (size_t i = 0; i < ranges.size(); ++i) numbers.insert(rows.NumberOf(rows.RowOf(i)));
    REQUIRE(numbers.size() == rows.row_count());
    if (!numbers.empty()) REQUIRE(*numbers.rbegin() + 1 == rows.row_count());
  }
}

TEST_CASE("ranges of one row never overlap") {
  LaneMaker make(3);
  Ranges ranges;
  for (int i = 0; i < 3'000; ++i) ranges.Add(make.Int(0, 100'000), make.Log(12));
  const std::vector<Row> rows = RowsOf(ranges);
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return ranges.start[a] < ranges.start[b]; });
  std::map<std::pair<uint32_t, uint32_t>, int64_t> ends;
  for (const size_t i : order) {
    const std::pair<uint32_t, uint32_t> row = {rows[i].layer, rows[i].depth};
    if (ends.contains(row)) REQUIRE(ends[row] <= ranges.start[i]);
    ends[row] = ranges.End(i);
  }
}

TEST_CASE("100,000 ranges of a training loop, arriving as they end, stay fast") {
  NestedRows rows;
  Ranges ranges;
  int64_t now = 0;
  for (int step = 0; step < 1'000; ++step) {
    const int64_t step_start = now;
    for (int op = 0; op < 33; ++op) {
      const int64_t op_start = now;
      ranges.Add(now + 1, 3);
      ranges.Add(now + 5, 3);
      now += 10;
      ranges.Add(op_start, 9);
    }
    now += 5;
    ranges.Add(step_start, now - step_start);
  }
  for (size_t i = 0; i < ranges.size(); i += 50) {
    ranges.AppendTo(rows, i, std::min<size_t>(50, ranges.size() - i));
    rows.Update();
  }
  REQUIRE(rows.layer_count() == 1);
  REQUIRE(rows.row_count() == 3);
}

TEST_CASE("an empty lane has no rows") {
  NestedRows rows;
  rows.Append({}, {});
  REQUIRE(rows.Update().empty());
  REQUIRE(rows.row_count() == 0);
}

}  // namespace
}  // namespace nanolane::timeline
