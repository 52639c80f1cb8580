// From event to event: hits of a search, neighbours, launches; and measuring.
#include <algorithm>
#include <utility>

#include "clients/desktop/model/viewer.h"
#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {

void Viewer::WorkOnSearchAndFilter(const TimelineModel& model) {
  const bool matched = search_.Update(model.names(), kMatchesPerFrame) &&
                       frames_.Update(model, search_, kMatchesPerFrame);
  hits_due_ = !matched || !hits_.Work(model, search_, frames_, kSearchWorkPerFrame);
  filter_due_ = !filtered_.Work(model, filter_, kSearchWorkPerFrame);
}

void Viewer::StepHits(const TimelineModel& model, bool backwards) {
  const std::optional<EventRef> hit =
      hits_.Next(model, selection_, viewport_.target().start_ns, backwards);
  if (hit.has_value()) GoTo(model, *hit);
}

void Viewer::GoTo(const TimelineModel& model, const EventRef& event) {
  Select(model, event);
  const LaneModel& lane = *model.lanes()[event.lane];
  for (const Row& row : layout_.rows()) {
    if (row.kind == RowKind::kHeader || row.lane != event.lane) continue;
    if (lane.rows.DepthOf(event.event) != row.depth) continue;
    // No further than it takes to see the whole row.
    scroll_ = std::min(scroll_, row.y);
    scroll_ = std::max(scroll_, row.y + row.height - screen_.lanes.height);
  }
  const Window& window = viewport_.target();
  const Wide start = lane.events.start_ns(event.event);
  const Wide end = lane.events.end_ns(event.event);
  // The zoom stays as it is, unless the event is wider than the window.
  if (start >= window.start_ns && end <= window.end_ns && start < window.end_ns) return;
  const Wide length = end - start;
  const Wide span = length > SpanOf(window) ? length * 2 : SpanOf(window);
  const Wide left = (start + end) / 2 - span / 2;
  viewport_.Jump({ClampToInt64(left), ClampToInt64(left + span)});
}

void Viewer::Move(const TimelineModel& model, EventMove move) {
  if (!selection_.has_value()) {
    hint_.Say("select an event first: click on a span");
    return;
  }
  const EventRef from = *selection_;
  const bool backwards = move == EventMove::kPrevious || move == EventMove::kPreviousSame;
  switch (move) {
    case EventMove::kNext:
    case EventMove::kPrevious: {
      const std::optional<EventRef> next = NextInLane(model, from, backwards);
      if (next.has_value()) return GoTo(model, *next);
      return hint_.Say(backwards ? "the first event of its lane" : "the last event of its lane");
    }
    case EventMove::kNextSame:
    case EventMove::kPreviousSame: return name_steps_.Ask(from, backwards);
    case EventMove::kToLaunch: return Follow(model, launch_link_.LaunchOf(model, from));
    case EventMove::kToLaunched: return launch_link_.AskLaunched(model, from);
  }
}

void Viewer::Follow(const TimelineModel& model, const LaunchLink::Answer& answer) {
  if (answer.event.has_value()) return GoTo(model, *answer.event);
  hint_.Say(answer.notice);
}

void Viewer::WorkOnMoves(const TimelineModel& model) {
  if (const auto same = name_steps_.Work(model, kNamesPerFrame)) {
    if (same->event.has_value()) {
      GoTo(model, *same->event);
    } else {
      hint_.Say(same->backwards ? "the first of this name in its lane"
                                : "the last of this name in its lane");
    }
  }
  if (const auto launched = launch_link_.Work(model, kStatEventsPerFrame)) {
    Follow(model, *launched);
  }
}

void Viewer::MeasureSelection(const TimelineModel& model) {
  if (!selection_.has_value()) {
    hint_.Say("to measure: select an event, or drag on the ruler");
    return;
  }
  const EventStore& events = model.lanes()[selection_->lane]->events;
  const Window range{events.start_ns(selection_->event), events.end_ns(selection_->event)};
  const std::optional<Window>& old = measure_.range();
  if (old.has_value() && old->start_ns == range.start_ns && old->end_ns == range.end_ns) {
    measure_.Clear();
  } else {
    measure_.Set(range);
  }
}

void Viewer::StepMeasure(const TimelineModel& model, const Input& input) {
  measure_.Step(input, screen_, viewport_.shown(), [&](int64_t time_ns, int64_t slop_ns) {
    return NearestEdge(model, layout_, scroll_, screen_.lanes.height, time_ns, slop_ns);
  });
}

}  // namespace nanolane::desktop
