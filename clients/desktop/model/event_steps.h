// From one event of a lane to the next: in order of time, and among those of the same name.
//
// The next event is found by binary search. Events of one name are found by a look at the lane's
// names, a part of them in each frame; they are kept until another name or lane is asked about, so
// that steps after the first are binary searches too. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "clients/desktop/model/event_facts.h"
#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

// The place of `event` in its lane's order of time.
timeline::LaneIndex::EventPlace PlaceOf(const EventStore& events, size_t event);

// The event after `from` in its row of the lane, or before it. O(log n).
std::optional<EventRef> NextInLane(const TimelineModel& model, const EventRef& from,
                                   bool backwards);

class NameSteps {
 public:
  // Asks for the event after `from` (before it, when `backwards`) that has its name and is of its
  // lane. Work() answers. A question that is still open is given up.
  void Ask(const EventRef& from, bool backwards);
  bool working() const { return asked_.has_value(); }

  // The answer, once: no event where there is none.
  struct Answer {
    std::optional<EventRef> event;
    bool backwards = false;
  };
  // Looks at up to `most_events` names. Nothing while the answer is not known.
  std::optional<Answer> Work(const TimelineModel& model, size_t most_events);
  // The model is another one: event numbers are void.
  void Forget();

 private:
  struct Question {
    EventRef from;
    bool backwards = false;
  };

  std::optional<Question> asked_;
  std::optional<size_t> lane_;
  NameId name_ = 0;
  size_t looked_at_ = 0;
  std::vector<uint32_t> events_;  // of the name, in order of time but for the last ones
  size_t sorted_ = 0;
};

}  // namespace nanolane::desktop
