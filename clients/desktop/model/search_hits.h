// Where the events lie whose names match a search: an index of hits for each lane, so that they can
// be shown in every pixel column that holds one, and counted in any window.
//
// Built in slices of a frame's time, again when the pattern changes, further when events come.
// Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "clients/desktop/model/event_facts.h"
#include "clients/desktop/model/name_search.h"
#include "clients/desktop/model/timeline_model.h"
#include "libs/timeline/lane_index.h"

namespace nanolane::desktop {

class SearchHits {
 public:
  // Looks at up to `most_events` events. True: everything that is loaded has been looked at.
  bool Work(const TimelineModel& model, const NameSearch& search, size_t most_events);

  // Whether there is a search to show.
  bool active() const { return active_; }
  // The hits of a lane; null when there are none.
  const timeline::LaneIndex* Of(size_t lane) const;
  // Raised by every change of that lane's hits, and of the pattern.
  uint64_t version(size_t lane) const;
  // Events that match and overlap the window, over all lanes.
  size_t Count(const timeline::Window& window) const;

  // The hit after `from` (before it, when `backwards`) in order of start, then lane, then event;
  // from the other end when there is none. Without `from`, the first that starts in or after
  // `near_ns`. O(hits).
  std::optional<EventRef> Next(const TimelineModel& model, const std::optional<EventRef>& from,
                               int64_t near_ns, bool backwards) const;

 private:
  struct LaneHits {
    timeline::LaneIndex index;
    std::vector<uint32_t> events;
    size_t looked_at = 0;
    uint64_t version = 0;
  };

  std::vector<LaneHits> lanes_;
  uint64_t pattern_version_ = 0;
  bool active_ = false;
};

}  // namespace nanolane::desktop
