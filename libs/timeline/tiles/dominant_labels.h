// The dominant category and the dominant name of each column, from the summed durations of the
// labels in it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "libs/timeline/tiles/column_grid.h"
#include "libs/timeline/tiles/span_columns.h"
#include "libs/timeline/tiles/tile_columns.h"

namespace nanolane::timeline {

class DominantLabels {
 public:
  explicit DominantLabels(std::span<const Label> labels);

  // Sets `dominant` and `dominant_name` of the columns that hold something. INVALID_ARGUMENT if
  // they hold labels that are not among those known.
  absl::Status Fill(const ColumnGrid& grid, SpanColumns& columns, std::span<TileColumn> out);

 private:
  void Add(uint32_t label, Wide weight);
  void TakeDominant(TileColumn& column);

  std::vector<trace::Category> category_of_;  // by label
  std::vector<uint32_t> slot_of_;             // by label: the place of its name among the names
  std::vector<uint32_t> names_;               // ascending

  // Of the column at hand:
  std::vector<Wide> name_weights_;  // by slot; -1: not present
  std::vector<uint32_t> slots_;     // that are present
  std::array<Wide, trace::kCategoryCount> category_weights_;
};

}  // namespace nanolane::timeline
