// The rows of one lane as pixels ask for them: one row of spans for streams, synchronizations and
// calls; a row per nesting level for NVTX ranges; a level over time for memory.
//
// Event numbers are those of the lane's EventStore: in order of arrival. Ranges move between rows
// as outer ones arrive (nested_spans.h): reads fill caches. UI thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clients/desktop/model/event_store.h"
#include "clients/desktop/model/nested_spans.h"
#include "libs/timeline/columns.h"
#include "libs/timeline/lane_index.h"
#include "libs/timeline/memory_index.h"
#include "libs/trace/event_columns.h"
#include "libs/trace/kinds.h"

namespace nanolane::desktop {

// What a memory lane holds at a moment.
struct MemoryLevel {
  int64_t held = 0;
  std::optional<int64_t> reserved;
};

class LaneRows {
 public:
  explicit LaneRows(trace::LaneKind kind = trace::LaneKind::kStream);

  // `columns` are the block's as decoded; those that `block` took may be empty.
  void Append(const EventStore::Block& block, const trace::EventColumns& columns);

  // Rows; at least 1.
  size_t depth() const;
  // The row that holds `event`.
  uint32_t DepthOf(size_t event) const;

  // Pixel columns of row `depth`.
  void Columns(uint32_t depth, const timeline::Window& window,
               std::span<timeline::PixelColumn> out) const;
  // Of rows that do not nest: whether no spans overlap, so that sums tell what some categories
  // cover, and the columns of these, as timeline::LaneIndex::ColumnsOf.
  bool disjoint() const { return !nested_ && spans_.disjoint(); }
  bool ColumnsOf(uint32_t categories, const timeline::Window& window,
                 std::span<timeline::PixelColumn> out) const {
    return !nested_ && spans_.ColumnsOf(categories, window, out);
  }
  // The event to show at a point of row `depth`, as timeline::LaneIndex::EventAt.
  std::optional<size_t> EventAt(uint32_t depth, int64_t time_ns, int64_t slop_ns) const;
  // The event of row `depth` that comes next after `place` in order of time, or before it, as
  // timeline::LaneIndex::Neighbour.
  std::optional<size_t> Neighbour(uint32_t depth, const timeline::LaneIndex::EventPlace& place,
                                  bool backwards) const;
  // Busy ns of row `depth` inside the window.
  int64_t Covered(uint32_t depth, const timeline::Window& window) const;
  // Events of all rows that overlap the window.
  size_t Count(const timeline::Window& window) const;

  // Memory lanes: what is held, and what is reserved from the driver (empty where not known).
  bool is_memory() const { return memory_; }
  const timeline::MemoryIndex& held() const { return held_; }
  const timeline::MemoryIndex& reserved() const { return reserved_; }
  std::optional<MemoryLevel> LevelAt(int64_t time_ns) const;
  // The highest of both series; 0 when nothing is known.
  int64_t highest_level() const;

  bool empty() const { return size_ == 0; }
  // Heap bytes held.
  size_t MemoryBytes() const;

 private:
  bool memory_ = false;
  bool nested_ = false;
  size_t size_ = 0;
  timeline::LaneIndex spans_;  // all events of lanes that do not nest
  timeline::MemoryIndex held_;
  timeline::MemoryIndex reserved_;
  NestedSpans ranges_;  // of lanes that nest
};

}  // namespace nanolane::desktop
