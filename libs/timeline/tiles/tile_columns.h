// What a pixel column of a lane says, for lanes whose events lie on disk: columns.h has the edges,
// the extents and what is present; here a column also names its dominant op and its longest event.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "libs/timeline/columns.h"
#include "libs/trace/kinds.h"

namespace nanolane::timeline {

// What an event is called. Names are ids of the caller.
struct Label {
  trace::Category category = trace::Category::kOtherKernel;
  uint32_t name = 0;

  bool operator==(const Label&) const = default;
};

// An event or a piece of coverage. An end before the start counts as the start.
struct TileSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // exclusive; start_ns: an instant
  uint32_t label = 0;  // a dense number of the caller

  bool instant() const { return end_ns <= start_ns; }
  // Exact for any two times, as int64 is not.
  uint64_t length() const {
    return instant() ? 0 : static_cast<uint64_t>(end_ns) - static_cast<uint64_t>(start_ns);
  }
  bool operator==(const TileSpan&) const = default;
};

// The span of an event as it is recorded: a negative duration counts as zero, an end beyond int64
// is held at int64's greatest value.
inline TileSpan SpanOf(int64_t start_ns, int64_t duration_ns, uint32_t label) {
  int64_t end_ns = 0;
  if (__builtin_add_overflow(start_ns, std::max<int64_t>(duration_ns, 0), &end_ns)) {
    end_ns = std::numeric_limits<int64_t>::max();
  }
  return {start_ns, end_ns, label};
}

// A column that is not present has the values that stand here.
struct TileColumn {
  // Length of the union of the lane's spans inside the column. Saturates.
  int64_t covered_ns = 0;
  // Events that start in the column. Saturates; see columns.h for columns without extent.
  uint32_t starts = 0;
  // An event starts in the column, or runs at its left edge.
  bool present = false;
  // For a column without extent alone: an event runs at its edge.
  bool edge_covered = false;
  // With the largest summed clipped duration (overlapping spans count in full), each by itself: the
  // dominant name may be of another category. Ties, and columns with instants alone, go to the
  // lowest of those that are present.
  trace::Category dominant = trace::Category::kOtherKernel;
  uint32_t dominant_name = 0;
  // Of the events that make the column present, the one with the largest full duration (which
  // saturates); of several that with the earliest start, then with the lowest label.
  int64_t longest_start_ns = 0;
  int64_t longest_duration_ns = 0;
  uint32_t longest_label = 0;

  bool operator==(const TileColumn&) const = default;
};

}  // namespace nanolane::timeline
