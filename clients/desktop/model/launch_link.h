// From what a GPU ran to the call that launched it, and back. The two carry the same correlation
// id, which is unique within a process.
//
// A call is found by its time, which the GPU's event knows. What a call launched is found by a walk
// over the correlation ids of the process' streams, a part of them in each frame: nothing is kept
// for it. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "clients/desktop/model/event_facts.h"
#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

class LaunchLink {
 public:
  // Where a question led: to an event, or to a sentence that says why to none.
  struct Answer {
    std::optional<EventRef> event;
    std::string notice;
  };

  // The call that launched `event`. O(log n), and the unpacking of blocks that hold calls of that
  // very moment.
  Answer LaunchOf(const TimelineModel& model, const EventRef& event);

  // Asks for what `call` launched: of several, what started first. Work() answers.
  void AskLaunched(const TimelineModel& model, const EventRef& call);
  bool working() const { return working_; }
  // Looks at about `most_events` events. Nothing while the answer is not known.
  std::optional<Answer> Work(const TimelineModel& model, size_t most_events);
  // The model is another one: event numbers are void.
  void Forget() { *this = LaunchLink(); }

 private:
  size_t LookInBlock(const EventStore& events);

  // The last call that was gone to, and from where: back is at once.
  std::optional<EventRef> came_from_;
  std::optional<EventRef> went_to_;
  bool working_ = false;
  Answer known_;  // without any walk
  uint32_t session_ = 0;
  uint64_t correlation_ = 0;
  size_t lane_ = 0;
  size_t block_ = 0;
  std::optional<EventRef> earliest_;
  int64_t earliest_ns_ = 0;
};

}  // namespace nanolane::desktop
