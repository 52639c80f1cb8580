#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <utility>

#include "libs/timeline/columns.h"
#include "libs/timeline/lane_shapes.h"
#include "libs/timeline/tiles/column_weights.h"
#include "libs/timeline/tiles/row_weights.h"
#include "libs/timeline/tiles/span_columns.h"

namespace nanolane::timeline {
namespace {

using Key = std::pair<uint32_t, uint32_t>;  // column, label

}  // namespace

TEST_CASE("weights of many rows are put together by column and label") {
  LaneMaker make(1);
  LabelTally tally;
  tally.Reserve(100);
  RowWeights weights;
  std::map<Key, uint64_t> expected;
  for (uint32_t row = 0; row < 4'000; ++row) {
    for (uint32_t column = 0; column < 10; ++column) {
      for (uint32_t label = column; label < 100; ++label) {
        const uint64_t weight = row % 5 == 0 ? 0 : row * uint64_t{label};
        tally.Add(label, weight);
        expected[{column, label}] += weight;
      }
      weights.Add(column, row % 7 == 0 ? uint64_t{1} << 35U : 1'000'000, tally);
      REQUIRE(tally.empty());
    }
  }
  std::map<Key, uint64_t> found;
  size_t cells = 0;
  uint32_t column = 0;
  for (const RowWeights::Block& block : weights.Sorted()) {
    REQUIRE(block.column >= column);
    column = block.column;
    cells += block.cells.size();
    RowWeights::ForEach(block, [&](uint32_t label, uint64_t weight) {
      found[{block.column, label}] += weight;
    });
  }
  REQUIRE(found == expected);
  CHECK(cells < 2'500'000);  // of 4 million
  weights.Clear();
  CHECK(weights.Sorted().empty());
}

TEST_CASE("weights of many spans are put together, sums beyond 64 bits too") {
  LaneMaker make(2);
  ColumnWeights weights(ColumnWeights::Of::kLengths);
  std::map<Key, Wide> expected;
  for (int i = 0; i < 2'500'000; ++i) {
    const auto column = static_cast<uint32_t>(i % 1'600);
    const auto label = static_cast<uint32_t>(i / 1'600 % 3);
    const uint64_t weight = column == 7 ? ~uint64_t{0} : static_cast<uint64_t>(i);
    weights.Add(column, label, weight);
    expected[{column, label}] += static_cast<Wide>(weight);
  }
  std::map<Key, Wide> found;
  for (const ColumnWeights::Entry& entry : weights.Sorted()) {
    found[{entry.column, entry.label}] += static_cast<Wide>(entry.weight);
  }
  REQUIRE((found == expected));
}

TEST_CASE("changes that cancel out take no memory") {
  ColumnWeights changes(ColumnWeights::Of::kChanges);
  for (int i = 0; i < 3'000'000; ++i) {
    changes.Add(static_cast<uint32_t>(i % 10), 0, i / 10 % 2 == 0 ? 1 : ~uint64_t{0});
  }
  CHECK(changes.Sorted().size() < 1'100'000);
  std::map<uint32_t, uint64_t> sums;
  for (const ColumnWeights::Entry& entry : changes.Sorted()) sums[entry.column] += entry.weight;
  for (const auto& [column, sum] : sums) CHECK(sum == 0);
}

TEST_CASE("runs are the union of the spans that were added in any order") {
  LaneMaker make(3);
  for (int round = 0; round < 100; ++round) {
    const int64_t range = make.Log(15);
    RunList runs;
    std::vector<bool> covered(static_cast<size_t>(range) + 70);
    for (int64_t i = make.Int(0, 4'000); i > 0; --i) {
      const int64_t start = make.Int(0, range);
      const int64_t end = start + make.Log(6);
      runs.Add(start, end);
      std::fill(covered.begin() + start, covered.begin() + end, true);
    }
    int64_t before = -1;
    std::vector<bool> found(covered.size());
    for (const RunList::Run& run : runs.Merged()) {
      REQUIRE(run.start_ns > before);
      REQUIRE(run.end_ns > run.start_ns);
      before = run.end_ns;
      std::fill(found.begin() + run.start_ns, found.begin() + run.end_ns, true);
    }
    REQUIRE(found == covered);
  }
}

TEST_CASE("a time is found in the column that holds it, at any zoom") {
  LaneMaker make(4);
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  for (int round = 0; round < 300; ++round) {
    Window window = {kFirst, kLast};
    if (!make.OneIn(10)) {
      window.start_ns = make.Int(kFirst, kLast - 1);
      window.end_ns = SpanOf(window.start_ns, make.Log(62), 0).end_ns;
    }
    const ColumnGrid grid(window, static_cast<uint32_t>(make.Log(12)));
    for (int i = 0; i < 50; ++i) {
      const int64_t time = make.Int(window.start_ns, window.end_ns - 1);
      const size_t column = grid.ColumnOf(time);
      REQUIRE(grid.left_ns(column) <= time);
      REQUIRE(time < grid.right_ns(column));
    }
  }
}

}  // namespace nanolane::timeline
