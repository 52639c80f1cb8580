// Memory lanes on disk: rows of levels, and the exact pixel columns of a lane of them.
//
// A row is cut as those of spans are (row_format.h): groups of 256 points, pages of 16 groups, a
// root. A node says: first and last time, lowest, highest and last level; so a column needs the
// points of at most two groups of each row. In bytes:
//
//   root, page   version 1 | nodes | points | each node: gap, extent, change of the last level,
//                how far below and above it the lowest and highest are; all varints
//   group        version 1 | count - 1, 1 | first time 8 | first level 8 | gaps | changes, packed
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "libs/timeline/memory_index.h"
#include "libs/timeline/tiles/column_grid.h"
#include "libs/timeline/tiles/level_nodes.h"
#include "libs/timeline/tiles/row_format.h"

namespace nanolane::timeline {

// Points sorted by time, in order of arrival for equal times; one at least. Those whose level is
// trace::kNoLevel are not for here: MemoryIndex leaves them out.
RowBytes BuildLevels(std::span<const LevelPoint> points);

// What the root says of the row as a whole.
struct LevelSummary {
  uint64_t points = 0;
  LevelNode node;
};
absl::StatusOr<LevelSummary> LevelSummaryOf(std::string_view root);

// The columns that MemoryIndex::Columns() gives of all points together. Rows may overlap in time
// with each other and with loose points: of points at the same time, those added later hold later.
// O(columns * log n) for each row; reads its pages and groups at most once, in ascending order, and
// only where column edges fall. Thread-compatible, for one query.
class LaneLevels {
 public:
  LaneLevels(const Window& window, uint32_t width);

  // The level before the first point, where it is known.
  void SetLevelBefore(int64_t level) { level_before_ = level; }

  // In any order of time, of equal times in order of arrival. Points without a level
  // (trace::kNoLevel) are left out.
  void AddPoints(std::span<const LevelPoint> points);
  absl::Status AddLevels(std::string_view root, RowSource& source);

  // Fills the columns, `width` of them. Once, at the end.
  absl::Status Finish(std::span<LevelColumn> out);

 private:
  // Of the points in a column.
  struct Inside {
    uint64_t points = 0;
    int64_t lowest = 0;
    int64_t highest = 0;
    bool at_edge = false;  // one of them is at the left edge

    void Include(uint64_t count, int64_t low, int64_t high);
  };
  // The last point before a time.
  struct Before {
    bool known = false;
    LevelPoint point;

    // A point that was added later, if it is not earlier.
    void Include(const LevelPoint& other);
  };
  friend class LevelCursor;

  void SpreadNanoseconds(std::span<LevelColumn> out) const;

  ColumnGrid grid_;
  uint32_t width_;
  std::optional<int64_t> level_before_;
  std::vector<Inside> inside_;  // by column
  std::vector<Before> before_;  // by edge: the last point before it
};

}  // namespace nanolane::timeline
