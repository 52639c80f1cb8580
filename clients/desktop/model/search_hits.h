// The events that a search finds, by their name or by a frame of their stack: how many, how long in
// all, and where they lie: an index of hits for each lane, so that they can be shown in every pixel
// column that holds one.
//
// Names are matched against the table of names, and counts and sums are kept for each name as
// events arrive: what a search by name finds is known as soon as the names are matched. The index,
// and what is found by frames alone, need a look at the events: it is done in slices of a frame's
// time, again when the pattern changes, further when events come. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "clients/desktop/model/event_facts.h"
#include "clients/desktop/model/frame_search.h"
#include "clients/desktop/model/name_search.h"
#include "clients/desktop/model/timeline_model.h"
#include "clients/desktop/model/wide_math.h"
#include "libs/timeline/lane_index.h"

namespace nanolane::desktop {

class SearchHits {
 public:
  // What work costs, in looks at the name of one event.
  static constexpr size_t kStackCost = 6;  // its stack as well
  static constexpr size_t kHitCost = 24;   // its place in the index

  struct Totals {
    uint64_t events = 0;
    Wide duration_ns = 0;
    bool complete = true;  // false: what frames find is still being counted
  };

  // Goes on for about `most_work`, in looks at a name. `names` and `frames` have matched all that
  // is loaded. True: everything that is loaded has been looked at.
  bool Work(const TimelineModel& model, const NameSearch& names, const FrameSearch& frames,
            size_t most_work);

  // Whether there is a search to show.
  bool active() const { return active_; }
  // Of the whole session.
  const Totals& totals() const { return totals_; }
  // The hits of a lane; null when there are none.
  const timeline::LaneIndex* Of(size_t lane) const;
  // Whether the event has been found. O(log hits).
  bool Has(const EventRef& event) const;
  // Raised by every change of that lane's hits, and of the pattern.
  uint64_t version(size_t lane) const;
  // Raised by every change of any lane's hits.
  uint64_t version() const { return version_; }
  // Events that match and overlap the window, over all lanes.
  size_t Count(const timeline::Window& window) const;

  // The hit after `from` (before it, when `backwards`) in order of start, then lane, then event;
  // from the other end when there is none. Without `from`, the first that starts in or after
  // `near_ns`. O(lanes · log hits).
  std::optional<EventRef> Next(const TimelineModel& model, const std::optional<EventRef>& from,
                               int64_t near_ns, bool backwards) const;

 private:
  struct LaneHits {
    timeline::LaneIndex index;
    std::vector<uint32_t> events;  // by index in `index`: ascending
    size_t blocks = 0;             // looked at
    uint64_t version = 0;
  };
  using Place = timeline::LaneIndex::EventPlace;

  void Begin();
  void CountNames(const TimelineModel& model, const NameSearch& names);
  size_t LookInBlock(const EventStore& events, const NameSearch& names, const FrameSearch& frames,
                     LaneHits& hits);
  std::optional<EventRef> Neighbour(const TimelineModel& model, size_t own_lane, const Place& place,
                                    bool backwards) const;

  std::vector<LaneHits> lanes_;
  Totals totals_;
  Totals by_frames_;  // of events whose names do not match
  uint64_t pattern_version_ = 0;
  uint64_t frames_version_ = 0;
  uint64_t version_ = 0;
  bool by_stack_ = false;
  bool active_ = false;
};

}  // namespace nanolane::desktop
