// The dominant category and the dominant name of each column, from the summed durations of the
// labels in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "libs/timeline/tiles/column_grid.h"
#include "libs/timeline/tiles/row_weights.h"
#include "libs/timeline/tiles/span_columns.h"
#include "libs/timeline/tiles/tile_columns.h"

namespace nanolane::timeline {

class DominantLabels {
 public:
  explicit DominantLabels(std::span<const Label> labels);

  // Sets `dominant` and `dominant_name` of the columns that hold something. INVALID_ARGUMENT if
  // they hold labels that are not among those known.
  absl::Status Fill(const ColumnGrid& grid, SpanColumns& spans, RowWeights& rows,
                    std::span<TileColumn> out);

 private:
  // A label's category, and the place of its name among all names, ascending.
  struct Slots {
    uint32_t name;
    uint32_t category;
  };

  // Sums by name and by category of the column at hand.
  template <typename Weight>
  class CategorySums;
  class NarrowSums;
  class WideSums;

  absl::Status Check(std::span<const RowWeights::Block> blocks) const;

  std::vector<Slots> slots_of_;  // by label
  std::vector<uint32_t> names_;
};

}  // namespace nanolane::timeline
