#include "libs/timeline/tiles/level_row.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "libs/timeline/lane_shapes.h"
#include "libs/timeline/tiles/tile_test_lane.h"
#include "libs/trace/model.h"

namespace nanolane::timeline {
namespace {

constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
constexpr int64_t kLast = std::numeric_limits<int64_t>::max();

// Points in rows and loose ones, and the index of them all.
struct LevelCase {
  struct Part {
    bool sealed;
    std::vector<LevelPoint> points;
    RowBytes row;
  };

  std::vector<Part> parts;
  MemoryIndex index;
  std::optional<int64_t> level_before;

  void Add(std::vector<LevelPoint> points, bool sealed) {
    if (sealed) {
      std::stable_sort(points.begin(), points.end(), [](const LevelPoint& a, const LevelPoint& b) {
        return a.time_ns < b.time_ns;
      });
    }
    for (const LevelPoint& point : points) {
      index.Append(std::span(&point.time_ns, 1), std::span(&point.level, 1));
    }
    RowBytes row = sealed ? BuildLevels(points) : RowBytes();
    parts.push_back({sealed, std::move(points), std::move(row)});
  }

  void Check(const Window& window, uint32_t width) const {
    LaneLevels levels(window, width);
    if (level_before) levels.SetLevelBefore(*level_before);
    for (const Part& part : parts) {
      if (part.sealed) {
        MemoryRow source(part.row);
        REQUIRE(levels.AddLevels(part.row.root, source).ok());
        REQUIRE(std::is_sorted(source.groups.begin(), source.groups.end()));
        REQUIRE(source.groups.size() <= size_t{width} + 1);
      } else {
        levels.AddPoints(part.points);
      }
    }
    std::vector<LevelColumn> columns(width);
    REQUIRE(levels.Finish(columns).ok());
    std::vector<LevelColumn> expected(width);
    index.Columns(window, expected);
    for (uint32_t i = 0; i < width; ++i) {
      if (columns[i] == expected[i]) continue;
      FAIL("column " << i << " of " << width << " from " << window.start_ns << " to "
                     << window.end_ns << ": known " << columns[i].known << " lowest "
                     << columns[i].lowest << " not " << expected[i].lowest << ", highest "
                     << columns[i].highest << " not " << expected[i].highest << ", last "
                     << columns[i].last << " not " << expected[i].last << ", changes "
                     << columns[i].changes << " not " << expected[i].changes);
    }
  }
};

std::vector<LevelPoint> RandomPoints(LaneMaker& make, int64_t count, int64_t range, bool extremes) {
  std::vector<LevelPoint> points;
  for (int64_t i = 0; i < count; ++i) {
    LevelPoint point = {make.Int(-range, range), make.Log(40)};
    if (extremes && make.OneIn(40)) point.time_ns = make.OneIn(2) ? kFirst : kLast - make.Int(0, 1);
    if (extremes && make.OneIn(40)) point.level = make.OneIn(2) ? kFirst + 1 : kLast;
    points.push_back(point);
  }
  return points;
}

}  // namespace

TEST_CASE("columns of levels in rows and loose ones are those of the memory index") {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    INFO("seed " << seed);
    LaneMaker make(seed);
    LevelCase lane;
    const int64_t range = make.Log(30);
    const bool extremes = make.OneIn(3);
    if (make.OneIn(3)) {
      lane.level_before = make.Log(30);
      lane.index.SetLevelBefore(*lane.level_before);
    }
    for (int64_t parts = make.Int(0, 5); parts > 0; --parts) {
      const int64_t count = make.OneIn(4) ? make.Int(1, 9'000) : make.Int(1, 400);
      lane.Add(RandomPoints(make, count, range, extremes), !make.OneIn(3));
    }
    for (int i = 0; i < 12; ++i) {
      const int64_t start = make.Int(-range - 2, range);
      lane.Check({start, start + make.Log(make.OneIn(3) ? 4 : 31)},
                 static_cast<uint32_t>(make.Log(8)));
    }
    lane.Check({kFirst, kLast}, 7);
  }
}

TEST_CASE("a row of levels reads only where column edges fall") {
  LaneMaker make(7);
  std::vector<LevelPoint> points;
  for (int64_t i = 0; i < 300'000; ++i) points.push_back({i * 1'000 + make.Int(0, 999), i % 977});
  const RowBytes row = BuildLevels(points);
  MemoryRow source(row);
  LaneLevels levels({0, 300'000'000}, 50);
  REQUIRE(levels.AddLevels(row.root, source).ok());
  CHECK(source.pages.size() <= 51);
  CHECK(source.groups.size() <= 51);
  CHECK(std::adjacent_find(source.pages.begin(), source.pages.end(), std::greater_equal<>()) ==
        source.pages.end());
}

TEST_CASE("damaged levels give a status") {
  LaneMaker make(3);
  auto points = RandomPoints(make, 5'000, 1'000'000, true);
  std::stable_sort(points.begin(), points.end(),
                   [](const LevelPoint& a, const LevelPoint& b) { return a.time_ns < b.time_ns; });
  const RowBytes row = BuildLevels(points);
  for (int i = 0; i < 3'000; ++i) {
    RowBytes damaged = row;
    std::string& piece = make.OneIn(3)   ? damaged.root
                         : make.OneIn(2) ? damaged.pages[0]
                                         : damaged.groups[static_cast<size_t>(make.Int(0, 3))];
    const auto at = static_cast<size_t>(make.Int(0, static_cast<int64_t>(piece.size()) - 1));
    const bool cut = make.OneIn(3);
    if (cut) {
      piece.resize(at);
    } else {
      piece[at] = static_cast<char>(make.Int(-128, 127));
    }
    MemoryRow source(damaged);
    LaneLevels levels({-1'000'000, 1'000'000}, 400);
    const absl::Status status = levels.AddLevels(damaged.root, source);
    if (cut) REQUIRE(!status.ok());
    std::vector<LevelColumn> columns(400);
    REQUIRE(levels.Finish(columns).ok());
  }
}

}  // namespace nanolane::timeline
