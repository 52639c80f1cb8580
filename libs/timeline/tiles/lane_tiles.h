// Exact pixel columns of one lane whose events lie in sealed rows (row_format.h), but for those not
// sealed yet: what LaneIndex::Columns() says of events in memory, and what columns are called.
//
//   LaneTiles tiles(window, width);
//   tiles.AddSpans(unsealed);
//   for each row: tiles.AddRow(root, source, role, label_of);
//   tiles.Finish(labels, columns);
//
// Each row that overlaps the window reads its root, and the pages and groups in which column edges
// fall, each once and in ascending order: O(columns * log n) however many events the window holds.
// (Rows of kLoose are read wherever they overlap the window.) What the rows with the role `covers`
// cover is disjoint, so that a lane's coverage is their sum; single spans add what lies beyond it:
// the length of their union's runs, inside of which the rows do not count.
//
// Memory in proportion to the columns times the labels in each. Thread-compatible, for one query.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "libs/timeline/tiles/column_grid.h"
#include "libs/timeline/tiles/label_tally.h"
#include "libs/timeline/tiles/row_format.h"
#include "libs/timeline/tiles/row_weights.h"
#include "libs/timeline/tiles/span_columns.h"
#include "libs/timeline/tiles/tile_columns.h"

namespace nanolane::timeline {

class RowCursor;

class LaneTiles {
 public:
  LaneTiles(const Window& window, uint32_t width);
  ~LaneTiles();
  // As made anew, but that memory is kept: for lane after lane.
  void Reset(const Window& window, uint32_t width);
  LaneTiles(const LaneTiles&) = delete;
  LaneTiles& operator=(const LaneTiles&) = delete;

  // Events that are in no row, in any order, with the query's labels. Before the first row with the
  // role `covers`.
  void AddSpans(std::span<const TileSpan> spans);

  // A row of the lane; label_of gives the query's label of each of the row's. Rows of kLoose that
  // cover, of which planned ones do not, come before all other rows that do. Events of rows of
  // kCover are none. DATA_LOSS: the bytes are no row's, or name a label that label_of lacks. After
  // a failure the columns are without meaning.
  absl::Status AddRow(std::string_view root, RowSource& source, RowRole role,
                      std::span<const uint32_t> label_of);

  // Fills the columns, `width` of them; labels are the query's. Once, at the end (see Reset()).
  absl::Status Finish(std::span<const Label> labels, std::span<TileColumn> out);

 private:
  absl::Status AddLooseRow(std::string_view root, RowSource& source, RowRole role,
                           std::span<const uint32_t> label_of);
  absl::Status ReadColumns(RowCursor& row, RowRole role);
  absl::Status ReadColumn(RowCursor& row, RowRole role, size_t column, size_t& run);
  absl::Status ReadCovered(RowCursor& row, LabelTally* tally, size_t column, size_t& run);
  void CountRun(const TileSpan& span);
  void FillCoverage(std::span<TileColumn> out);
  void SpreadNanoseconds(std::span<TileColumn> out) const;

  ColumnGrid grid_;
  uint32_t width_;
  SpanColumns columns_;
  RowWeights row_weights_;
  RunList runs_;                   // of single spans, inside the window
  std::vector<uint64_t> covered_;  // by rows, outside those runs
  bool rows_cover_ = false;        // so that no run may come any more
  LabelTally tally_;
  std::unique_ptr<RowCursor> row_;  // whose memory serves one row after the other
};

}  // namespace nanolane::timeline
