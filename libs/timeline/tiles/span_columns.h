// What single spans say of the columns of a window: events in any order, O(1) amortized each
// however many columns one spans (its inner columns go to lists of differences and ranges, which
// are swept at the end). Memory in proportion to the columns times the labels in them, and to the
// merged runs. Events in rows say theirs column by column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libs/timeline/tiles/column_grid.h"
#include "libs/timeline/tiles/column_weights.h"
#include "libs/timeline/tiles/label_tally.h"
#include "libs/timeline/tiles/tile_columns.h"

namespace nanolane::timeline {

// Spans united, sorted, when put together; see ColumnWeights for when that is.
class RunList {
 public:
  struct Run {
    int64_t start_ns;
    int64_t end_ns;
  };

  void Clear();
  void Add(int64_t start_ns, int64_t end_ns);  // start_ns < end_ns
  // Sorted; none touches another.
  const std::vector<Run>& Merged();

 private:
  void Merge();

  std::vector<Run> runs_;
  size_t limit_ = 1024;
  bool merged_ = true;
};

class SpanColumns {
 public:
  // The grid must outlive this.
  explicit SpanColumns(const ColumnGrid& grid);
  // After the grid has changed.
  void Reset();

  void Add(const TileSpan& span);

  // What rows say of one column:
  void AddRow(size_t column, uint64_t starts, const Longest& longest) {
    starts_[column] += starts;
    longest_[column].Include(longest);
  }

  uint64_t starts(size_t column) const { return starts_[column]; }

  // After the last Add():
  const std::vector<Longest>& longest();
  const std::vector<ColumnWeights::Entry>& Weights() { return weights_.Sorted(); }
  // Where spans of a label cover columns from edge to edge: by how many (modulo 2^64) their number
  // changes with the column.
  const std::vector<ColumnWeights::Entry>& FullChanges() { return full_changes_.Sorted(); }

 private:
  struct Range {
    uint32_t from;
    uint32_t to;  // exclusive
    Longest longest;
  };

  void AddWeight(size_t column, uint32_t label, uint64_t weight) {
    weights_.Add(static_cast<uint32_t>(column), label, weight);
  }
  void AddLongest(size_t from, size_t to, const Longest& longest);
  void PaintRanges();

  const ColumnGrid& grid_;
  std::vector<uint64_t> starts_;
  std::vector<Longest> longest_;
  std::vector<Range> ranges_;
  ColumnWeights weights_{ColumnWeights::Of::kLengths};
  ColumnWeights full_changes_{ColumnWeights::Of::kChanges};
};

}  // namespace nanolane::timeline
