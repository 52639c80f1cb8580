// What the viewer keeps of its lanes beside their events: how they are arranged, the hand on their
// labels, the stacks above them and the frame under the cursor. UI thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "clients/desktop/model/event_facts.h"
#include "clients/desktop/model/label_hand.h"
#include "clients/desktop/model/lane_arrangement.h"
#include "clients/desktop/model/lane_stacks.h"
#include "clients/desktop/model/row_layout.h"

namespace nanolane::desktop {

// A span of an expanded stream's stacks.
struct FrameHover {
  size_t row = 0;  // of the layout
  size_t lane = 0;
  size_t level = 0;
  size_t span = 0;  // of the level
};

class LaneBoard {
 public:
  // Events and spans that a frame looks at for the stacks: about 3 ms.
  static constexpr size_t kEventsPerFrame = 30'000;

  // What the layout depends on; `room` is the height of the lanes.
  RowLayout::Terms Terms(double room) const { return {&arrangement_, &stacks_, room}; }

  // Mouse and keys over the labels. Returns what is left of the input.
  Input StepLabels(const Input& input, const ScreenLayout& screen, const RowLayout& layout,
                   double scroll) {
    return hand_.Step(input, screen, layout, scroll, arrangement_);
  }

  // Reads stacks for a frame's time, those in sight first. True: nothing is left to read.
  bool Work(const TimelineModel& model, const RowLayout& layout, double scroll, double room,
            int64_t now_ns);

  // The span of a stack row at a time, or the nearest within `slop_ns`.
  std::optional<FrameHover> FrameAt(const RowLayout& layout, size_t row, int64_t time_ns,
                                    int64_t slop_ns) const;
  const StackSpan& SpanOf(const FrameHover& hover) const {
    return stacks_.Of(hover.lane)->spans(hover.level)[hover.span];
  }

  const LaneArrangement& arrangement() const { return arrangement_; }
  LaneArrangement& arrangement() { return arrangement_; }
  const LaneStacks& stacks() const { return stacks_; }
  const LabelHand& hand() const { return hand_; }

 private:
  LaneArrangement arrangement_;
  LaneStacks stacks_;
  LabelHand hand_;
};

// What is said of the span of a frame: function, place and language, what ran under it.
HoverCard CardOf(const TimelineModel& model, const LaneStacks& stacks, const StackSpan& span);

// The function's name, short enough for a span.
std::string FrameName(const TimelineModel& model, const LaneStacks& stacks, FrameTree::Node node);

}  // namespace nanolane::desktop
