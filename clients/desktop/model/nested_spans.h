// Rows of nested ranges as pixels ask for them, kept up to date while ranges pour in.
//
// Ranges arrive when they end, inner ones first, so those that came last move between rows as outer
// ones come. What lies before a moment at which nothing is open is settled: it moves only when a
// range comes that begins before that moment. So each row has two indexes: one of what is settled,
// which only grows, and one of the rest, the tail, which is built again when something has come.
// All spans of the first end by the moment, all of the second start there or after it, so that
// their answers add up exactly.
//
//   settled                       | tail
//   |-----------|  |------------| | |---------|  |----
//     |---| |-|       |----|      |   |--|         |--|
//
// A build costs O(tail log tail). A long tail is settled but for its last part, which is as long as
// ranges have been seen to reach back, within bounds; a range that reaches back before the moment
// costs a build of everything. Reads fill caches. UI thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libs/timeline/columns.h"
#include "libs/timeline/lane_index.h"
#include "libs/timeline/nested_rows.h"
#include "libs/trace/kinds.h"

namespace nanolane::desktop {

class NestedSpans {
 public:
  // Ranges that are left unsettled.
  static constexpr size_t kLeastMargin = 4'096;
  static constexpr size_t kMostMargin = 65'536;

  void Append(std::span<const int64_t> start_ns, std::span<const int64_t> duration_ns,
              std::span<const trace::Category> category);

  size_t size() const { return start_ns_.size(); }
  size_t row_count() const { return nesting_.row_count(); }
  // Rows by number, as NestedRows counts them; indices in the order of Append().
  uint32_t RowOf(size_t event) const {
    return static_cast<uint32_t>(nesting_.NumberOf(nesting_.RowOf(event)));
  }

  void Columns(uint32_t row, const timeline::Window& window,
               std::span<timeline::PixelColumn> out) const;
  // As timeline::LaneIndex::EventAt.
  std::optional<size_t> EventAt(uint32_t row, int64_t time_ns, int64_t slop_ns) const;
  // As timeline::LaneIndex::Neighbour, among the row's ranges. O(log n).
  std::optional<size_t> Neighbour(uint32_t row, const timeline::LaneIndex::EventPlace& place,
                                  bool backwards) const;
  int64_t Covered(uint32_t row, const timeline::Window& window) const;
  // Of all rows.
  size_t Count(const timeline::Window& window) const;

  size_t MemoryBytes() const;
  // Ranges that builds have looked at so far: what the tail saves shows here.
  uint64_t work() const { return work_; }

 private:
  struct Part {
    timeline::LaneIndex spans;
    std::vector<uint32_t> events;  // by index in `spans`
  };
  struct Row {
    Part settled;
    Part tail;
  };
  using Key = std::pair<uint32_t, uint32_t>;  // layer, depth: ordered as the rows' numbers

  // The row, up to date; null when there is none.
  const Row* Fresh(uint32_t row) const;
  void Unsettle(int64_t earliest_ns);
  void Refresh() const;
  void Settle() const;
  size_t SettledEnd(int64_t& moment_ns) const;
  void Fill(std::span<const uint32_t> events, Part Row::*part) const;
  // Whether `a` is to be shown rather than `b` for a point at `time_ns`.
  bool Nearer(size_t a, size_t b, int64_t time_ns) const;
  int64_t EndOf(size_t event) const;

  timeline::NestedRows nesting_;
  std::vector<int64_t> start_ns_;
  std::vector<int64_t> duration_ns_;
  std::vector<trace::Category> category_;
  size_t margin_ = kLeastMargin;
  // Nothing is open at this moment; what starts before it is in the settled indexes.
  mutable int64_t settled_ns_ = std::numeric_limits<int64_t>::min();
  mutable std::vector<uint32_t> tail_;  // the others
  mutable std::map<Key, Row> rows_;
  mutable std::vector<const Row*> by_number_;
  mutable std::vector<timeline::PixelColumn> columns_;
  mutable bool stale_ = false;
  mutable uint64_t work_ = 0;
};

}  // namespace nanolane::desktop
