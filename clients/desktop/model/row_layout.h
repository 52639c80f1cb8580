// The rows of the timeline from top to bottom: a header for each process and GPU, and under it the
// lanes, each with its place. Lanes without events take no room.
//
// Order within a GPU: NVTX ranges, each stream (the ranges projected onto it, the stream, its
// synchronizations), synchronizations of no stream, API rows, memory. Rows that belong to no GPU
// stand with the only GPU of their process, or under a header of their own where there are several.
// A person may have arranged them otherwise (lane_arrangement.h): moved within their group, hidden,
// or pinned, which puts them above everything else, where they stay while the rest scrolls.
//
// The rows of one lane form a block: those of an expanded stream are the levels of its stacks, then
// its events; those of nested ranges their nesting levels. A collapsed one has one row. Calls of
// threads are on demand where there are GPU lanes: one row says how many threads there are.
//
// Coordinates are logical pixels from the top of the content; everything is on the 4 px grid but
// for the heights that the rows' insides ask for. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clients/desktop/model/lane_arrangement.h"
#include "clients/desktop/model/lane_stacks.h"
#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

enum class RowKind : uint8_t {
  kHeader,
  kStream,
  kSync,
  kNvtx,
  kApi,
  kMemory,
  kStack,       // a level of the stacks above a stream's events
  kApiSummary,  // "4 threads · show API calls"
};

// Heights by kind; `Inner` is where a row's pixels lie, from the row's top.
inline constexpr double kHeaderHeight = 24;
inline constexpr double kStreamHeight = 40;
inline constexpr double kSyncHeight = 24;
inline constexpr double kNvtxHeight = 26;
inline constexpr double kNvtxNestedHeight = 20;
inline constexpr double kApiHeight = 24;
inline constexpr double kStackHeight = 19;
inline constexpr double kStackMargin = 3;  // above the outermost level
inline constexpr double kMemoryHeight = 58;
inline constexpr double kMemoryPlotHeight = 50;  // from 4 below the top
inline constexpr double kLegendHeight = 40;
inline constexpr double kLeafHeight = 3;
inline constexpr double kLeafGap = 1;

struct Row {
  RowKind kind = RowKind::kHeader;
  size_t lane = 0;     // index into the model's lanes; for rows that have one
  uint32_t depth = 0;  // NVTX: nesting; stacks: level, from the outermost that is shown
  double y = 0;
  double height = 0;
  std::string label;       // what the row is; empty on the further rows of a lane
  std::string detail;      // headers: the part after the ›; summaries: after the ·
  std::string group;       // headers: key for collapsing; summaries: the session
  size_t block = 0;        // index into blocks(); for rows that have a lane
  bool collapsed = false;  // headers
  bool ends_lane = true;   // a separator follows
};

inline bool HasLane(const Row& row) {
  return row.kind != RowKind::kHeader && row.kind != RowKind::kApiSummary;
}

// The rows of one lane, one under the other.
struct LaneBlock {
  size_t lane = 0;
  std::string key;    // LaneKey()
  std::string unit;   // LaneUnitKey()
  std::string group;  // of the header that it naturally stands under
  std::string label;
  std::string origin;   // where a pinned lane comes from, if there are several groups: "GPU 1"
  uint32_t levels = 0;  // rows that expanding adds; 0: it cannot be expanded
  uint32_t folded = 0;  // outermost levels of stacks that never differ, and are not shown
  bool expanded = false;
  bool pinned = false;
  size_t first_row = 0;
  size_t row_count = 0;
  double y = 0;
  double height = 0;

  bool expandable() const { return levels > 0; }
};

class RowLayout {
 public:
  // Pinned lanes stay in place as long as they take no more of the room than this.
  static constexpr double kMostPinned = 2.0 / 3;

  // What rows depend on beside the model. `room`: height of the lanes on screen.
  struct Terms {
    const LaneArrangement* arrangement = nullptr;  // null: as nobody has touched it
    const LaneStacks* stacks = nullptr;            // null: no lane has stacks
    double room = 1e9;
  };

  // Computes the rows again when the model's shape or the terms have changed.
  void Update(const TimelineModel& model, const Terms& terms);
  void Update(const TimelineModel& model) { Update(model, {}); }

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<LaneBlock>& blocks() const { return blocks_; }
  // Lanes that would be there if they were not hidden.
  size_t hidden_lanes() const { return hidden_; }
  double rows_height() const { return height_; }
  // With the legend under the rows.
  double height() const { return rows_.empty() ? 0 : height_ + kLegendHeight; }
  // Rows above this do not scroll.
  double stuck_height() const { return stuck_; }
  // Where a row or block at `y` is on screen, from the top of the lanes.
  double OnScreen(double y, double scroll) const { return y < stuck_ ? y : y - scroll; }
  // The row at `y`; nothing above the first and below the last.
  std::optional<size_t> RowAt(double y) const;
  // The row at `y` pixels below the top of the lanes.
  std::optional<size_t> RowOnScreen(double y, double scroll) const {
    return y < 0 ? std::nullopt : RowAt(y < stuck_ ? y : y + scroll);
  }
  // Raised whenever rows() has changed.
  uint64_t version() const { return version_; }

 private:
  struct Group;

  std::vector<Group> GroupsOf(const TimelineModel& model, const LaneArrangement& arrangement,
                              const LaneStacks* stacks);
  void PlacePins(const TimelineModel& model, const LaneArrangement& arrangement,
                 const std::vector<Group>& groups, double room);
  void PlaceGroup(const TimelineModel& model, const LaneArrangement& arrangement,
                  const Group& group);
  void PlaceBlock(const TimelineModel& model, LaneBlock block);
  void Place(Row row);

  std::vector<Row> rows_;
  std::vector<LaneBlock> blocks_;
  size_t hidden_ = 0;
  double height_ = 0;
  double stuck_ = 0;
  // What the rows were computed for.
  uint64_t shape_seen_ = ~uint64_t{0};
  uint64_t arrangement_seen_ = 0;
  uint64_t stacks_seen_ = 0;
  double room_seen_ = 0;
  uint64_t version_ = 0;
};

}  // namespace nanolane::desktop
