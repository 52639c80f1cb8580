// The columns of a window as a query works on them: where a window has fewer nanoseconds than
// columns, one column for each nanosecond (which are spread over the asked ones at the end).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libs/timeline/columns.h"

namespace nanolane::timeline {

class ColumnGrid {
 public:
  // No columns where the window is empty or the width 0.
  ColumnGrid(const Window& window, uint32_t width) : window_(window) {
    if (window.end_ns <= window.start_ns || width == 0) return;
    const uint64_t span =
        static_cast<uint64_t>(window.end_ns) - static_cast<uint64_t>(window.start_ns);
    const auto columns = static_cast<uint32_t>(std::min<uint64_t>(width, span));
    EdgeWalker walker(window, columns);
    edges_.reserve(size_t{columns} + 1);
    for (uint32_t i = 0; i <= columns; ++i) edges_.push_back(walker.Next());
    columns_per_ns_ = static_cast<double>(columns) / static_cast<double>(span);
  }

  const Window& window() const { return window_; }
  size_t size() const { return edges_.empty() ? 0 : edges_.size() - 1; }
  int64_t left_ns(size_t column) const { return edges_[column]; }
  int64_t right_ns(size_t column) const { return edges_[column + 1]; }
  uint64_t extent(size_t column) const {
    return static_cast<uint64_t>(edges_[column + 1]) - static_cast<uint64_t>(edges_[column]);
  }

  // The column that holds a time of the window. O(1): a guess that is off by a rounding at most.
  size_t ColumnOf(int64_t time_ns) const {
    assert(window_.start_ns <= time_ns && time_ns < window_.end_ns);
    const uint64_t since = static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(window_.start_ns);
    auto column =
        std::min(static_cast<size_t>(static_cast<double>(since) * columns_per_ns_), size() - 1);
    while (edges_[column] > time_ns) --column;
    while (edges_[column + 1] <= time_ns) ++column;
    return column;
  }

 private:
  Window window_;
  std::vector<int64_t> edges_;
  double columns_per_ns_ = 0;
};

}  // namespace nanolane::timeline
