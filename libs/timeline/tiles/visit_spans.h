// Reads the spans of a row back, one by one.
#pragma once

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "libs/timeline/columns.h"
#include "libs/timeline/tiles/row_format.h"
#include "libs/timeline/tiles/tile_columns.h"

namespace nanolane::timeline {

// Calls `visit` for each span of the row that starts in the window or runs at its start, in order,
// with the row's label (0 in rows of kCover). Reads the pages and groups that overlap the window.
absl::Status VisitSpans(std::string_view root, RowSource& source, const Window& window,
                        absl::FunctionRef<void(const TileSpan&)> visit);

}  // namespace nanolane::timeline
