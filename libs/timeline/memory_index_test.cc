#include "libs/timeline/memory_index.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <optional>
#include <vector>

#include "libs/timeline/lane_shapes.h"
#include "libs/trace/model.h"

namespace nanolane::timeline {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// The definition, by looking at every point for every column.
class MemoryOracle {
 public:
  void Append(std::span<const int64_t> time, std::span<const int64_t> level) {
    for (size_t i = 0; i < time.size(); ++i) {
      if (level[i] != trace::kNoLevel) points_.push_back({time[i], level[i]});
    }
    std::stable_sort(points_.begin(), points_.end(),
                     [](const Point& a, const Point& b) { return a.time < b.time; });
  }
  void SetLevelBefore(int64_t level) { before_ = level; }

  std::optional<int64_t> LevelAt(int64_t time) const {
    std::optional<int64_t> level = before_;
    for (const Point& point : points_) {
      if (point.time <= time) level = point.level;
    }
    return level;
  }

  std::vector<LevelColumn> Columns(const Window& window, uint32_t width) const {
    std::vector<LevelColumn> columns(width);
    if (window.end_ns <= window.start_ns) return columns;
    for (uint32_t i = 0; i < width; ++i) {
      const Wide left = ColumnEdge(window, width, i);
      const Wide right = std::max<Wide>(ColumnEdge(window, width, i + 1), left + 1);
      const bool first = i == 0 || ColumnEdge(window, width, i - 1) != left;
      std::vector<int64_t> levels;
      if (const auto level = LevelAt(static_cast<int64_t>(left))) levels.push_back(*level);
      LevelColumn& column = columns[i];
      for (const Point& point : points_) {
        if (point.time < left || point.time >= right) continue;
        levels.push_back(point.level);
        if (first) ++column.changes;
      }
      if (levels.empty()) continue;
      column.known = true;
      column.lowest = *std::min_element(levels.begin(), levels.end());
      column.highest = *std::max_element(levels.begin(), levels.end());
      column.last = *LevelAt(static_cast<int64_t>(right - 1));
    }
    return columns;
  }

 private:
  struct Point {
    int64_t time;
    int64_t level;
  };
  std::vector<Point> points_;
  std::optional<int64_t> before_;
};

struct Points {
  std::vector<int64_t> time;
  std::vector<int64_t> level;
  size_t size() const { return time.size(); }
};

Points AnyPoints(LaneMaker& make, size_t count) {
  Points points;
  const int kind = static_cast<int>(make.Int(0, 4));
  int64_t now = make.Int(-100, 100);
  for (size_t i = 0; i < count; ++i) {
    switch (kind) {
      case 0: now += make.Int(0, 3); break;  // many equal times
      case 1: now += make.Log(20); break;
      case 2: now = make.Int(0, 200); break;      // shuffled
      case 3: now = make.Int(kMin, kMax); break;  // extremes
      default: now += make.OneIn(5) ? -make.Int(0, 30) : make.Int(0, 20); break;
    }
    points.time.push_back(now);
    const bool extreme = make.OneIn(10);
    points.level.push_back(extreme ? make.Int(kMin, kMax) : make.Int(0, 1'000));
    if (make.OneIn(30)) points.level.back() = trace::kNoLevel;
  }
  return points;
}

Window AnyWindow(LaneMaker& make, const Points& points) {
  if (points.size() == 0 || make.OneIn(20)) return {make.Int(kMin, kMax), make.Int(kMin, kMax)};
  const auto at = static_cast<size_t>(make.Int(0, static_cast<int64_t>(points.size()) - 1));
  const auto clamp = [](Wide time) {
    return static_cast<int64_t>(std::min<Wide>(std::max<Wide>(time, kMin), kMax));
  };
  const Wide start = Wide{points.time[at]} - make.Int(0, make.OneIn(2) ? 5 : 500);
  return {clamp(start), clamp(start + (make.OneIn(2) ? make.Int(1, 30) : make.Log(22)))};
}

void RunRandomLane(LaneMaker& make, const Points& points, int windows) {
  MemoryIndex index;
  MemoryOracle oracle;
  if (make.OneIn(3)) {
    index.SetLevelBefore(77);
    oracle.SetLevelBefore(77);
  }
  const int64_t largest = make.Log(9);
  for (size_t done = 0; done < points.size();) {
    const size_t count = std::min(points.size() - done, static_cast<size_t>(make.Int(0, largest)));
    const auto time = std::span(points.time).subspan(done, count);
    const auto level = std::span(points.level).subspan(done, count);
    index.Append(time, level);
    oracle.Append(time, level);
    done += count;
  }
  for (int i = 0; i < windows; ++i) {
    const Window window = AnyWindow(make, points);
    const auto width = static_cast<uint32_t>(make.Int(1, 60));
    CAPTURE(window.start_ns, window.end_ns, width);
    std::vector<LevelColumn> columns(width);
    index.Columns(window, columns);
    REQUIRE(columns == oracle.Columns(window, width));
    REQUIRE(index.LevelAt(window.start_ns) == oracle.LevelAt(window.start_ns));
  }
}

TEST_CASE("memory columns equal the oracle for random small lanes") {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    LaneMaker make(seed);
    RunRandomLane(make, AnyPoints(make, static_cast<size_t>(make.Int(0, 100))), 15);
  }
}

TEST_CASE("memory columns equal the oracle for lanes of many chunks") {
  for (uint64_t seed = 0; seed < 15; ++seed) {
    CAPTURE(seed);
    LaneMaker make(seed);
    RunRandomLane(make, AnyPoints(make, static_cast<size_t>(make.Int(1'500, 4'000))), 5);
  }
}

TEST_CASE("before the first memory event nothing is known, unless the level before is given") {
  MemoryIndex index;
  const std::vector<int64_t> time = {100};
  const std::vector<int64_t> level = {5};
  index.Append(time, level);
  std::vector<LevelColumn> columns(2);
  index.Columns({0, 200}, columns);
  REQUIRE_FALSE(columns[0].known);
  REQUIRE(columns[1] == LevelColumn{true, 5, 5, 5, 1});
  REQUIRE_FALSE(index.LevelAt(99).has_value());
  index.SetLevelBefore(3);
  index.Columns({0, 200}, columns);
  REQUIRE(columns[0] == LevelColumn{true, 3, 3, 3, 0});
  REQUIRE(index.LevelAt(99) == 3);
}

TEST_CASE("memory that is allocated and freed within one nanosecond shows as a peak") {
  MemoryIndex index;
  const std::vector<int64_t> time = {0, 50, 50, 90};
  const std::vector<int64_t> level = {10, 1'000, 10, 11};
  index.Append(time, level);
  std::vector<LevelColumn> columns(1);
  index.Columns({0, 100}, columns);
  REQUIRE(columns[0] == LevelColumn{true, 10, 1'000, 11, 4});
  REQUIRE(index.LevelAt(50) == 10);
}

TEST_CASE("the level from before the window goes on in it") {
  MemoryIndex index;
  const std::vector<int64_t> time = {0, 1'000};
  const std::vector<int64_t> level = {7, 9};
  index.Append(time, level);
  std::vector<LevelColumn> columns(3);
  index.Columns({500, 503}, columns);
  for (const LevelColumn& column : columns) REQUIRE(column == LevelColumn{true, 7, 7, 7, 0});
}

TEST_CASE("an empty memory lane and an empty window know nothing") {
  MemoryIndex index;
  std::vector<LevelColumn> columns(3, LevelColumn{true, 1, 1, 1, 1});
  index.Columns({0, 10}, columns);
  REQUIRE(columns == std::vector<LevelColumn>(3));
  REQUIRE_FALSE(index.lowest().has_value());
  const std::vector<int64_t> time = {5};
  const std::vector<int64_t> level = {8};
  index.Append(time, level);
  index.Columns({5, 5}, columns);
  REQUIRE(columns == std::vector<LevelColumn>(3));
  REQUIRE(index.lowest() == 8);
  REQUIRE(index.highest() == 8);
}

}  // namespace
}  // namespace nanolane::timeline
