// The hierarchy above the events of one stream: a row of spans for each depth of their stacks. A
// span stands for a run of events, consecutive in order of start, that share the frame of that
// depth and all outer ones: from the first one's start to where the last of them ends.
//
//   level 0   |- encode -----------------------------|  |- encode --
//   level 1     |- Transformer -----| |- pooling --|      |- Transf
//   leaves      |k| |k|  |k||k|  |k|  |k||k|   |k|        |k| |k|
//
// Built from a lane as it is, in slices of a frame's time; then it does not change. Each level has
// a timeline::LaneIndex, so that its pixels are as exact as all others. Events in order of start
// cost O(1) each and O(depth) where the stack changes; blocks that overlap in time are merged,
// O(log blocks) more. About 70 bytes per span. UI thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

#include "clients/desktop/model/frame_tree.h"
#include "clients/desktop/model/timeline_model.h"
#include "libs/timeline/lane_index.h"

namespace nanolane::desktop {

struct StackSpan {
  FrameTree::Node node = 0;
  uint32_t kernels = 0;  // under it
  uint32_t events = 0;   // under it, kernels among them
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t gpu_ns = 0;  // summed durations of the events; saturates
};

// A level's index tells languages apart, in place of categories.
inline constexpr int kLanguageCount = 7;
static_assert(kLanguageCount <= trace::kCategoryCount);

class StackLevels {
 public:
  // For the events that `lane` has now. The outermost `folded` levels are left out.
  StackLevels(const LaneModel& lane, uint32_t folded);

  // Goes on with about `most_events` events and spans, but at least a block. True: it is complete.
  bool Work(const TimelineModel& model, const LaneModel& lane, FrameTree& tree, size_t most_events);
  bool complete() const { return stage_ == Stage::kComplete; }

  // What it was built from: version of the lane.
  uint64_t lane_version() const { return lane_version_; }
  uint32_t folded() const { return folded_; }
  // Whether some frame's language was not known: symbols may be late.
  bool has_unknown_languages() const { return unknown_languages_; }

  // Levels from the outermost that is not folded away. Spans are in order of start, and the index
  // counts them as they stand.
  size_t size() const { return levels_.size(); }
  const timeline::LaneIndex& index(size_t level) const { return levels_[level].index; }
  const std::vector<StackSpan>& spans(size_t level) const { return levels_[level].spans; }

  // Heap bytes held.
  size_t MemoryBytes() const;

 private:
  enum class Stage : uint8_t { kRead, kMerge, kComplete };
  struct Level {
    timeline::LaneIndex index;
    std::vector<StackSpan> spans;
    size_t indexed = 0;  // of the spans
  };
  // A block's events that are still to come.
  struct Cursor {
    int64_t start_ns = 0;
    size_t next = 0;  // in order_
    size_t end = 0;

    // The greater one comes later.
    bool operator>(const Cursor& other) const {
      return start_ns != other.start_ns ? start_ns > other.start_ns : next > other.next;
    }
  };

  size_t ReadBlock(const TimelineModel& model, const LaneModel& lane, FrameTree& tree);
  size_t MergeSome(const TimelineModel& model, const LaneModel& lane, const FrameTree& tree,
                   size_t most_events);
  // Adds an event, the next in order of start. Returns 1 and the spans that it began.
  size_t Take(const EventStore& events, uint32_t event, const FrameTree& tree);
  void CloseTo(uint32_t depth);
  void IndexSpans(const TimelineModel& model, const FrameTree& tree);
  void Finish();

  const uint64_t lane_version_;
  const uint32_t folded_;
  const size_t blocks_;
  Stage stage_ = Stage::kRead;
  size_t next_block_ = 0;
  std::vector<FrameTree::Node> nodes_;  // by event
  std::vector<uint32_t> order_;         // events, each block's in order of start
  std::priority_queue<Cursor, std::vector<Cursor>, std::greater<>> cursors_;
  FrameTree::Node current_ = 0;
  std::vector<StackSpan> open_;  // from the outermost frame of the current stack
  std::vector<Level> levels_;
  bool unknown_languages_ = false;
};

}  // namespace nanolane::desktop
