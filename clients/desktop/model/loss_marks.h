// Where it is shown that events were lost: on the lane on which they fell, where that is known.
//
// A session says how many events of which kind were lost and why, neither on which lane nor when.
// The lane follows where just one in sight can have held the kind; else the mark stands on the
// process' header. When: of a session that is followed, between the two steps after which the
// totals had grown (TimelineModel::seen_losses()). Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clients/desktop/model/event_facts.h"
#include "clients/desktop/model/row_layout.h"
#include "clients/desktop/model/screen_layout.h"
#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

struct LossMark {
  size_t row = 0;  // of the layout: a header, or the row that bears its lane's label
  uint64_t count = 0;
  std::vector<std::string> lines;  // "312 kernels: buffer full"
  struct Stretch {
    timeline::Window when;
    std::string line;
  };
  std::vector<Stretch> stretches;  // as far as it is known when
};

// Marks in order of their rows, one for each row at most.
std::vector<LossMark> LossMarksOf(const TimelineModel& model, const RowLayout& layout);

// What is said of the mark at a row's label, and of one stretch of it.
HoverCard CardOf(const LossMark& mark);
HoverCard CardOf(const LossMark::Stretch& stretch);

// The card of the loss whose mark is at (x, y): at a label, or in the lanes where it is known when.
std::optional<HoverCard> LossCardAt(const std::vector<LossMark>& marks, const RowLayout& layout,
                                    const ScreenLayout& screen, double scroll,
                                    const timeline::Window& shown, double x, double y);

}  // namespace nanolane::desktop
