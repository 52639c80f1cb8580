// Level of detail of one lane of spans: exact answers per pixel column, at any zoom, without
// touching each event.
//
// Events are appended in blocks as they stream in, in any order (in order of time is fastest).
// Spans may overlap, touch, have zero or negative duration (negative counts as zero) and equal
// starts; an end beyond int64 is held at int64's greatest value. Inside:
//
//   rows      up to four, an event being in the first where it overlaps none: disjoint, packed,
//   with
//             prefix sums of durations per category. A stream's kernels are nearly all in the
//             first.
//   overlaps  the events that fit in none: their starts and their ends, each sorted, with counts
//   and
//             sums per category, so that any depth of overlap costs the same.
//   rest      what the events outside the first row cover that those in it do not: disjoint.
//
// Coverage of a row before t is C(t) = B[k] + clamp(t - start[k], 0, duration[k]) with k the last
// span that starts before t and B its prefix sum; that of the lane is the first row's and the
// rest's, and a column's is C(right) - C(left). A row of columns costs O(px + log n). About 13
// bytes per event of the rows, 75 per other.
//
// Thread-compatible: one thread appends and reads (the UI thread), or appends happen-before reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libs/timeline/columns.h"
#include "libs/trace/kinds.h"

namespace nanolane::timeline {

// Parallel arrays of equal length. What an event is called, its caller knows by index.
struct SpanBatch {
  std::span<const int64_t> start_ns;
  std::span<const int64_t> duration_ns;
  std::span<const trace::Category> category;
};

struct LaneRep;

class LaneIndex {
 public:
  LaneIndex();
  ~LaneIndex();
  LaneIndex(LaneIndex&&) noexcept;
  LaneIndex& operator=(LaneIndex&&) noexcept;

  // Amortized O(1) per event when in order; a late event costs O(log n) and moves at most a chunk
  // of 512 events, and the batch O(n / 512) in all. At most 2^32 - 1 events.
  void Append(const SpanBatch& batch);

  size_t size() const;
  int64_t first_ns() const;  // least start; 0 when empty
  int64_t last_ns() const;   // greatest end; 0 when empty
  int64_t busy_ns() const;   // length of the union of all spans, at most int64's greatest value

  // Whether no two spans overlap.
  bool disjoint() const;

  // Length of the union of the spans inside [from_ns, to_ns); 0 when to_ns <= from_ns. Saturates.
  int64_t Covered(int64_t from_ns, int64_t to_ns) const;

  // Events that overlap the window (start inside it, or running at its start).
  size_t Count(const Window& window) const;

  // Fills `out` with the columns of the window; out.size() is the width (> 0).
  // An event of zero length is held by exactly one column: the one whose half-open extent contains
  // its start; where several columns share that edge (below 1 ns per column), by the first of them.
  // See columns.h. Nothing is in a window that does not end after its start.
  void Columns(const Window& window, std::span<PixelColumn> out) const;

  // The columns of the events whose category is in the set `categories` (bit i: category i) alone,
  // as if there were no others; but `starts` says only whether any of them starts (1 or 0). False,
  // and `out` as it was: spans of the lane overlap, so that sums do not tell what they cover
  // together. O(px + log n).
  bool ColumnsOf(uint32_t categories, const Window& window, std::span<PixelColumn> out) const;

  // Index (in Append order) of the event to show for a click or hover at `time_ns`: the innermost
  // that runs then (or is an instant then), else the one whose start or end is nearest, within
  // `slop_ns`. Innermost, and among equally near ones: latest start, then earliest end, then
  // appended last.
  std::optional<size_t> EventAt(int64_t time_ns, int64_t slop_ns) const;

  // The events that overlap the window, as Count(), each with its length inside it (which
  // saturates), in no certain order; nothing if there are more than `most`. O(log n) for each, and
  // O(n / 512) for overlapping events. For what a column shows beyond its category: see
  // DominantName().
  struct ClippedEvent {
    size_t index = 0;  // in Append order
    int64_t length_ns = 0;
  };
  std::optional<std::vector<ClippedEvent>> EventsIn(const Window& window, size_t most) const;

  // A place in the order of time: by start, of equal starts instants first, then by index. An index
  // of -1 lies before all events that start then.
  struct EventPlace {
    int64_t start_ns = 0;
    bool instant = false;
    int64_t index = 0;
  };
  // The event next to `place`, which need not be one's own: the first after it in the order of
  // time, or the last before it. Nothing where there is none. O(log n), and O(log n) more for the
  // log of how many events start just then.
  std::optional<size_t> Neighbour(const EventPlace& place, bool backwards) const;

  // Heap bytes held.
  size_t MemoryBytes() const;

 private:
  std::unique_ptr<LaneRep> rep_;
};

// The name with the largest summed length inside the window (overlapping events count in full); the
// lowest of several, and of names that have only instants there. Exact, by a look at every event:
// nothing where there are none or more than `most`. `name_of` gives the name of an event's index.
template <typename NameOf>
std::optional<uint32_t> DominantName(const LaneIndex& lane, const Window& window, size_t most,
                                     NameOf name_of) {
  const auto events = lane.EventsIn(window, most);
  if (!events || events->empty()) return std::nullopt;
  std::map<uint32_t, Wide> lengths;  // by name, so that the first of several is the lowest
  for (const LaneIndex::ClippedEvent& event : *events) {
    lengths[name_of(event.index)] += event.length_ns;
  }
  const auto greatest =
      std::max_element(lengths.begin(), lengths.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return greatest->first;
}

}  // namespace nanolane::timeline
