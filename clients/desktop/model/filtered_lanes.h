// What a filter leaves of each lane: pixel columns of the events that are shown, and how many.
//
// A lane of which all or nothing is shown needs no work. Categories of a lane whose spans do not
// overlap are answered from the sums that its index keeps, in the same frame. For everything else
// (durations, languages, categories of a lane with overlaps) an index of the events that are shown
// is built in slices of a frame's time. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "clients/desktop/model/event_facts.h"
#include "clients/desktop/model/event_filter.h"
#include "clients/desktop/model/stack_languages.h"
#include "clients/desktop/model/timeline_model.h"
#include "libs/timeline/lane_index.h"

namespace nanolane::desktop {

class FilteredLanes {
 public:
  // What work costs, in looks at the name and duration of one event.
  static constexpr size_t kStackCost = 6;   // its stack as well
  static constexpr size_t kShownCost = 24;  // its place in the index

  // Goes on for about `most_work`. True: everything that is loaded has been looked at.
  bool Work(const TimelineModel& model, const EventFilter& filter, size_t most_work);

  bool active() const { return filter_.active(); }
  // Events shown, of all lanes; less than there are while Work() is not complete.
  uint64_t shown_events() const { return shown_; }
  const StackLanguages& languages() const { return languages_; }

  // Of what a row consists.
  enum class Part : uint8_t { kAll, kSome, kNothing };
  // kSome: `out` has the columns of what is shown of row `depth` of the model's lane `number`; how
  // many start is not told. kNothing: `out` is empty columns. kAll: `out` is as it was.
  Part Columns(const LaneModel& lane, size_t number, uint32_t depth, const timeline::Window& window,
               std::span<timeline::PixelColumn> out) const;
  // Raised by every change of what Columns() says of the lane.
  uint64_t version(size_t lane) const { return lane < lanes_.size() ? lanes_[lane].version : 0; }

  // Whether the event is shown. Unpacks its block where languages are asked for.
  bool Shows(const TimelineModel& model, const EventRef& event) const;

 private:
  enum class Way : uint8_t { kAll, kNothing, kSums, kIndex };
  struct Lane {
    Way way = Way::kAll;
    std::vector<timeline::LaneIndex> rows;  // by depth
    size_t blocks = 0;                      // looked at
    uint64_t events = 0;                    // shown, of those looked at
    uint64_t lane_version = 0;              // of a lane whose events move between rows
    uint64_t version = 0;
  };

  void Begin(const TimelineModel& model);
  Way WayOf(const LaneModel& lane) const;
  size_t LookInBlock(const LaneModel& lane, Lane& into);
  uint64_t ShownOf(const LaneModel& lane, const Lane& of) const;

  EventFilter filter_;
  StackLanguages languages_;
  std::vector<Lane> lanes_;
  uint64_t generation_ = 0;
  uint64_t dictionary_version_ = 0;
  uint64_t shown_ = 0;
};

}  // namespace nanolane::desktop
