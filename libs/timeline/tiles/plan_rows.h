// Plans a step of sealing a lane: which of its events go to which row, so that the rows' coverage
// adds up.
//
// First fit: each event, in order of start (instants first, then the longest), goes to the first of
// up to 32 rows in which it overlaps none; what fits in none is loose. Events that start before the
// cover that is there ends are late: as long as the step has others, late ones go to rows after the
// first, so that the first lies beyond that cover and covers itself, at no cost. Otherwise a row of
// kCover says what the step's events cover beyond the first row and what is covered already. So the
// covering rows of a lane are disjoint, and together cover the union of all its events.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/timeline/tiles/row_format.h"
#include "libs/timeline/tiles/tile_columns.h"

namespace nanolane::timeline {

inline constexpr size_t kMaxRows = 32;
inline constexpr size_t kMaxStepEvents = 262'144;

// What the covering rows of the steps before cover.
class SealedCover {
 public:
  virtual ~SealedCover() = default;
  // The greatest end; nothing if nothing is covered.
  virtual std::optional<int64_t> End() = 0;
  // Calls visit(start, end) for the pieces of the cover that overlap [from_ns, to_ns), in any
  // order; they do not overlap each other, and may be cut to it or not. See VisitSpans().
  virtual absl::Status Visit(int64_t from_ns, int64_t to_ns,
                             absl::FunctionRef<void(int64_t, int64_t)> visit) = 0;
};

struct PlannedRow {
  RowKind kind = RowKind::kDisjoint;
  RowRole role;
  std::vector<TileSpan> spans;  // as BuildRow() takes them
};

// The rows of a step, none of them empty; events in any order (that of start is fastest).
absl::StatusOr<std::vector<PlannedRow>> PlanRows(std::vector<TileSpan> events, SealedCover& sealed);

}  // namespace nanolane::timeline
