// Goes through a row of disjoint spans (kDisjoint, kCover) from one time to a later one, adding up
// what it passes: whole pages and groups by their tables, single events where a stop falls into a
// group. Reads each page and group at most once, in ascending order, and none in which no stop
// falls. O(log n) tables and at most two groups' events from one stop to the next.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "libs/timeline/tiles/label_tally.h"
#include "libs/timeline/tiles/node_list.h"
#include "libs/timeline/tiles/row_format.h"
#include "libs/timeline/tiles/span_group.h"

namespace nanolane::timeline {

class RowCursor {
 public:
  // `root` and what the labels point to must stay until the cursor is opened again.
  absl::Status Open(std::string_view root, RowSource& source, const LabelMap& labels);

  const NodeList& root() const { return root_; }
  int64_t first_ns() const { return root_.header().first_ns; }
  int64_t last_ns() const { return root_.header().last_ns; }

  // Passes all events that start before the time, adding them (label, duration, the longest) to the
  // tally if there is one. Times ascend from call to call.
  absl::Status AdvanceTo(int64_t time_ns, LabelTally* tally);

  // Of the events passed so far:
  uint64_t passed() const { return passed_; }
  // Length of what they cover before the time, which is the latest or after it.
  uint64_t CoveredBefore(int64_t time_ns) const { return passed_ns_ - Beyond(time_ns); }
  // The last one, if it ends after the time (which is the latest or after it); null if not. Labels
  // are the query's.
  const TileSpan* RunningAt(int64_t time_ns) const {
    return has_last_ && last_.end_ns > time_ns ? &last_ : nullptr;
  }

 private:
  uint64_t Beyond(int64_t time_ns) const {
    if (RunningAt(time_ns) == nullptr) return 0;
    return static_cast<uint64_t>(last_.end_ns) - static_cast<uint64_t>(time_ns);
  }

  void PassEvents(int64_t time_ns, LabelTally* tally);
  void AddEvents(size_t from, size_t to, LabelTally& tally);
  void AddManyEvents(size_t from, size_t to, LabelTally& tally);
  absl::Status PassNodes(const NodeList& nodes, size_t from, size_t to, LabelTally* tally);
  absl::Status OpenPage();
  absl::Status OpenGroup();

  RowSource* source_ = nullptr;
  LabelMap labels_;
  NodeList root_;
  NodeList page_;
  SpanGroup group_;
  // The place: the next event is in this page, in it in this group, in it at this index; the latter
  // count while the former is open.
  size_t page_at_ = 0;
  size_t group_at_ = 0;
  size_t event_at_ = 0;
  bool page_open_ = false;
  bool group_open_ = false;

  uint64_t passed_ = 0;
  uint64_t passed_ns_ = 0;
  TileSpan last_;  // the last event passed, unless it has ended for certain
  bool has_last_ = false;
};

}  // namespace nanolane::timeline
