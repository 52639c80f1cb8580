// What LaneIndex holds (lane_index.h has the picture), for the files that implement it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
  DisjointRow runs{DisjointRow::Keep::kTimesOnly};
  bool has_runs = false;  // false while all spans are in the first row, which then is the union
  size_t size = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;

  LaneRep();

  void Add(int64_t start_ns, int64_t duration_ns, trace::Category category, size_t index);
  void Commit();

  const DisjointRow& covered() const { return has_runs ? runs : rows.front(); }

  // Columns of 1 ns or more.
  void FillColumns(const Window& window, std::span<PixelColumn> out) const;

 private:
  size_t RowFor(const RowSpan& span);
  void StartRuns();
};

}  // namespace nanolane::timeline
