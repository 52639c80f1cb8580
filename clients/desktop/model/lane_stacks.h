// Which lanes have stacks above their events, how deep, and the hierarchies of those lanes that are
// expanded: read in slices of a frame's time, again (beside what is shown) when a lane has grown.
//
// How deep a lane's stacks go is known of all lanes, from a look at each block's column of stacks;
// the levels themselves are built when a lane is expanded and dropped when it is collapsed. UI
// thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "clients/desktop/model/frame_tree.h"
#include "clients/desktop/model/stack_levels.h"
#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

class LaneStacks {
 public:
  // How long the levels of a lane that grows stay before they are built anew.
  static constexpr int64_t kRenewNs = 1'000'000'000;

  struct Shape {
    uint32_t levels = 0;  // to show; 0: its events have no stacks
    // Outermost frames that all events with a stack share: they would be one bar each.
    uint32_t folded = 0;

    bool operator==(const Shape&) const = default;
  };

  // Looks at about `most_events` events (stacks that are new count as some), for the lanes whose
  // indices are in `expanded` first. True: there is nothing left to do for now.
  bool Work(const TimelineModel& model, std::span<const size_t> expanded, size_t most_events,
            int64_t now_ns);

  // As far as the lane has been looked at.
  Shape ShapeOf(size_t lane) const {
    return lane < surveys_.size() ? surveys_[lane].shape : Shape{};
  }
  // Raised when a lane's shape changes.
  uint64_t shape_version() const { return shape_version_; }

  // The complete levels of an expanded lane; null while there are none.
  const StackLevels* Of(size_t lane) const;
  // Raised when the lane's levels are others.
  uint64_t version(size_t lane) const;
  const FrameTree& tree() const { return tree_; }

  // Heap bytes held.
  size_t MemoryBytes() const;

 private:
  struct Survey {
    size_t blocks = 0;  // that were looked at
    bool any = false;   // events with stacks
    FrameTree::Node common = 0;
    uint32_t deepest = 0;
    Shape shape;
  };
  struct Expanded {
    std::unique_ptr<StackLevels> shown;
    std::unique_ptr<StackLevels> next;  // being built
    uint64_t version = 0;
    uint64_t dictionary_version = 0;  // when `shown` was begun
    int64_t begun_ns = 0;
  };

  size_t SurveyLane(const TimelineModel& model, size_t lane, size_t most_events);
  // Events looked at; 0: nothing to do.
  size_t Build(const TimelineModel& model, size_t lane, Expanded& of, size_t most_events,
               int64_t now_ns);

  uint64_t generation_ = 0;
  FrameTree tree_;
  std::vector<Survey> surveys_;  // by lane
  std::map<size_t, Expanded> expanded_;
  uint64_t shape_version_ = 0;
  uint64_t built_ = 0;
};

}  // namespace nanolane::desktop
