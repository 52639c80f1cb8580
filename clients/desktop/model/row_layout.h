// The rows of the timeline from top to bottom: a header for each process and GPU, and under it the
// lanes, each with its place. Lanes without events take no room.
//
// Order within a GPU: NVTX ranges, each stream (the ranges projected onto it, the stream, its
// synchronizations), synchronizations of no stream, API rows, memory. Rows that belong to no GPU
// stand with the only GPU of their process, or under a header of their own where there are several.
//
// Coordinates are logical pixels from the top of the content; everything is on the 4 px grid but
// for the heights that the rows' insides ask for. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

enum class RowKind : uint8_t { kHeader, kStream, kSync, kNvtx, kApi, kMemory };

// Heights by kind; `Inner` is where a row's pixels lie, from the row's top.
inline constexpr double kHeaderHeight = 24;
inline constexpr double kStreamHeight = 40;
inline constexpr double kSyncHeight = 24;
inline constexpr double kNvtxHeight = 26;
inline constexpr double kNvtxNestedHeight = 20;
inline constexpr double kApiHeight = 24;
inline constexpr double kMemoryHeight = 58;
inline constexpr double kMemoryPlotHeight = 50;  // from 4 below the top
inline constexpr double kLegendHeight = 40;
inline constexpr double kLeafHeight = 3;
inline constexpr double kLeafGap = 1;

struct Row {
  RowKind kind = RowKind::kHeader;
  size_t lane = 0;     // index into the model's lanes; not for headers
  uint32_t depth = 0;  // NVTX: nesting
  double y = 0;
  double height = 0;
  std::string label;       // what the row is; empty on the nested rows of a lane
  std::string detail;      // headers: the part after the ›
  std::string group;       // headers: key for collapsing
  bool collapsed = false;  // headers
  bool ends_lane = true;   // a separator follows
};

class RowLayout {
 public:
  // Computes the rows again when the model's shape or the collapsed groups have changed.
  void Update(const TimelineModel& model);

  void ToggleGroup(const std::string& group);

  const std::vector<Row>& rows() const { return rows_; }
  double rows_height() const { return height_; }
  // With the legend under the rows.
  double height() const { return rows_.empty() ? 0 : height_ + kLegendHeight; }
  // The row at `y`; nothing above the first and below the last.
  std::optional<size_t> RowAt(double y) const;
  // Raised whenever rows() has changed.
  uint64_t version() const { return version_; }

 private:
  void Place(Row row);
  void PlaceLane(const TimelineModel& model, size_t lane, const std::string& label);

  std::vector<Row> rows_;
  absl::flat_hash_set<std::string> collapsed_;
  double height_ = 0;
  uint64_t shape_seen_ = ~uint64_t{0};
  uint64_t version_ = 0;
};

}  // namespace nanolane::desktop
