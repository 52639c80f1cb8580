// Level of detail of one lane of spans: exact answers per pixel column, at any zoom, without
// touching each event.
//
// Events are appended in blocks as they stream in (mostly, not always, in order of time). Spans may
// overlap, touch, have zero or negative duration (negative counts as zero) and equal starts. Inside,
// events lie in disjoint sub-rows with prefix sums of durations (one in all, one per category,
// checkpointed), and a merged run list gives the union. Coverage C(t) is exact:
//   C(t) = B[k] + clamp(t - start[k], 0, duration[k]),  k the last start <= t,
// and a column's coverage is C(right) - C(left). A row of columns costs O(px + log n).
//
// Thread-compatible: one thread appends and reads (the UI thread), or appends happen-before reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libs/timeline/columns.h"
#include "libs/trace/kinds.h"

namespace nanolane::timeline {

// Parallel arrays of equal length.
struct SpanBatch {
  std::span<const int64_t> start_ns;
  std::span<const int64_t> duration_ns;
  std::span<const trace::Category> category;
  std::span<const uint32_t> name;  // caller's id of the name (merged over epochs and sessions)
};

class LaneIndex {
 public:
  LaneIndex();
  ~LaneIndex();
  LaneIndex(LaneIndex&&) noexcept;
  LaneIndex& operator=(LaneIndex&&) noexcept;

  // Amortized O(1) per event when in order; a late event moves what starts after it.
  void Append(const SpanBatch& batch);

  size_t size() const;
  int64_t first_ns() const;  // least start; 0 when empty
  int64_t last_ns() const;   // greatest end; 0 when empty
  int64_t busy_ns() const;   // length of the union of all spans

  // Length of the union of the spans inside [from_ns, to_ns).
  int64_t Covered(int64_t from_ns, int64_t to_ns) const;

  // Events that overlap the window (start inside it, or running at its start).
  size_t Count(const Window& window) const;

  // Fills `out` with the columns of the window; out.size() is the width (> 0).
  // An event of zero length is held by exactly one column: the one whose half-open extent contains
  // its start; where several columns share that edge (below 1 ns per column), by the first of them.
  void Columns(const Window& window, std::span<PixelColumn> out) const;

  // Index (in Append order) of the event to show for a click or hover at `time_ns`: the innermost
  // (latest start) that runs then, else the one whose start or end is nearest within `slop_ns`.
  std::optional<size_t> EventAt(int64_t time_ns, int64_t slop_ns) const;

  // Heap bytes held.
  size_t MemoryBytes() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace nanolane::timeline
