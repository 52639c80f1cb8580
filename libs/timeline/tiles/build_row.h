// Writes rows: spans to the bytes that row_format.h describes.
#pragma once

#include <span>

#include "libs/timeline/tiles/row_format.h"
#include "libs/timeline/tiles/tile_columns.h"

namespace nanolane::timeline {

// Spans, of which there is one at least, as the kind wants them: in rows of kDisjoint and kCover
// each starts at or after the end of the one before; in rows of kLoose sorted by start. Labels are
// dense: takes memory in proportion to the greatest. O(n).
RowBytes BuildRow(std::span<const TileSpan> spans, RowKind kind);

// What the root says of the row as a whole, in O(1).
struct RowSummary {
  RowKind kind = RowKind::kDisjoint;
  uint64_t events = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;    // the greatest end
  uint64_t total_ns = 0;  // summed duration; 0 in rows of kLoose
};
absl::StatusOr<RowSummary> SummaryOf(std::string_view root);

}  // namespace nanolane::timeline
