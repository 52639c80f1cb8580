// What LaneIndex holds (lane_index.h has the picture), for the files that implement it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libs/timeline/disjoint_row.h"
#include "libs/timeline/edge_list.h"
#include "libs/timeline/lane_index.h"
#include "libs/trace/kinds.h"

namespace nanolane::timeline {

// The categories that occur in a lane, numbered densely in the order of their first event.
class CategorySlots {
 public:
  uint8_t SlotOf(trace::Category category);
  size_t size() const { return categories_.size(); }
  trace::Category CategoryOf(size_t slot) const { return categories_[slot]; }

  // Of a slot, 1 … 15: the lower the category, the higher. 0: the slot is not in use.
  const std::array<uint8_t, kMaxSlots>& precedence() const { return precedence_; }
  static trace::Category CategoryOfPrecedence(uint64_t precedence) {
    return static_cast<trace::Category>(trace::kCategoryCount - precedence);
  }

 private:
  std::array<int8_t, kMaxSlots> slot_of_ = {-1, -1, -1, -1, -1, -1, -1, -1,
                                            -1, -1, -1, -1, -1, -1, -1, -1};
  std::vector<trace::Category> categories_;
  std::array<uint8_t, kMaxSlots> precedence_ = {};
};

struct LaneRep {
  static constexpr size_t kMaxRows = 4;

  CategorySlots slots;
  std::vector<DisjointRow> rows;  // an event is in the first one where it fits
  // Events that fit in none of kMaxRows rows:
  EdgeList overlap_starts;
  EdgeList overlap_ends;
  EdgeList overlap_instants;  // each inside a span of every row
  // What the spans outside the first row cover that those in it do not: the union is both.
  DisjointRow rest{DisjointRow::Keep::kTimesOnly};
  size_t size = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;

  LaneRep();

  void Add(int64_t start_ns, int64_t duration_ns, trace::Category category, size_t index);
  void Commit();

  // Length of the union of all spans, and of its part before a time.
  uint64_t covered() const { return rows.front().length() + rest.length(); }
  uint64_t CoveredBefore(int64_t time_ns) const {
    return rows.front().Locate(time_ns).length + rest.Locate(time_ns).length;
  }

  // Columns of 1 ns or more.
  void FillColumns(const Window& window, std::span<PixelColumn> out) const;

 private:
  struct Interval {
    int64_t start_ns;
    int64_t end_ns;
  };

  size_t RowFor(const RowSpan& span);
  void CommitRest();
  std::vector<Interval> Uncovered(const std::vector<Interval>& intervals) const;
  int64_t NextUncovered(int64_t from_ns, int64_t to_ns) const;

  // Of the batch that is being appended, by start:
  std::vector<Interval> late_in_row_;  // in the first row, where they may overlap `rest`
  std::vector<Interval> outside_row_;  // in another
};

// Columns of a window that are filled before they are spread: all of `width`, or one for each
// nanosecond where there are fewer of those. Requires a window that ends after its start.
size_t WholeColumns(const Window& window, size_t width);
// Spreads the first WholeColumns() of `out`, a nanosecond each, over the columns that share it.
// Nothing to do from 1 ns per column on.
void SpreadNanoseconds(const Window& window, std::span<PixelColumn> out);

}  // namespace nanolane::timeline
