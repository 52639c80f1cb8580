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

  // Slots by ascending category, so that the first of several equal ones is the right one.
  const std::vector<uint8_t>& ascending() const { return ascending_; }

 private:
  std::array<int8_t, kMaxSlots> slot_of_ = {-1, -1, -1, -1, -1, -1, -1, -1,
                                            -1, -1, -1, -1, -1, -1, -1, -1};
  std::vector<trace::Category> categories_;
  std::vector<uint8_t> ascending_;
};

struct LaneRep {
  CategorySlots slots;
  DisjointRow row{DisjointRow::Keep::kSpans};
  EdgeList overlap_starts;  // of spans that overlap the row
  EdgeList overlap_ends;
  EdgeList overlap_instants;  // inside a span of the row
  DisjointRow runs{DisjointRow::Keep::kTimesOnly};  // empty while nothing overlaps
  size_t size = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;

  void Add(int64_t start_ns, int64_t duration_ns, trace::Category category, size_t index);
  void StartRuns();
  void Commit();

  bool overlapping() const { return !overlap_starts.empty(); }
  const DisjointRow& covered() const { return overlapping() ? runs : row; }

  // Columns of 1 ns or more.
  void FillColumns(const Window& window, std::span<PixelColumn> out) const;
};

}  // namespace nanolane::timeline
