#include "clients/desktop/model/viewer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "clients/desktop/model/opening_view.h"
#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {

void Viewer::Step(const Loaded& loaded, const Input& input, double width, double height,
                  double seconds, int64_t now_ns) {
  const TimelineModel& model = loaded.model;
  screen_ = LayOutScreen(width, height);
  if (!model.sessions().empty() && model.sessions().front().id != session_id_) {
    BeginSession(model.sessions().front().id);
  }
  if (model.generation() != generation_) Adopt(model);
  // Symbols of a running process come late.
  if (selection_.has_value() && model.dictionary_version() != dictionary_seen_) {
    Select(model, std::optional<EventRef>(selection_));
  }
  layout_.Update(model, board_.Terms(screen_.lanes.height));
  UpdateWindow(model);
  viewport_.Tick(now_ns);
  wants_search_focus_ = false;
  const Input rest = board_.StepLabels(input, screen_, layout_, scroll_);
  const Wishes wishes = navigator_.Step(rest, screen_, overview(), seconds, viewport_);
  hint_.Tick(now_ns);
  StepMeasure(model, rest);
  CarryOut(loaded, wishes);
  WorkOnMoves(model);
  layout_.Update(model, board_.Terms(screen_.lanes.height));
  stacks_due_ = !board_.Work(model, layout_, scroll_, screen_.lanes.height, now_ns);
  layout_.Update(model, board_.Terms(screen_.lanes.height));
  scroll_ = std::clamp(scroll_, 0.0, std::max(0.0, layout_.height() - screen_.lanes.height));
  WorkOnSearchAndFilter(model);
  UpdateHover(loaded, rest);
  UpdateLosses(model, now_ns);
  UpdateFigures(model, now_ns);
  scene_ = SceneOf(loaded);
  UpdateNearest(model);
  if (model.recording()) rate_.Note(now_ns, model.received_events());
}

void Viewer::BeginSession(const std::string& id) {
  if (!session_id_.empty()) {
    first_session_ = false;
    viewport_ = Viewport();
    opened_phase_ = TimelineModel::Phase::kConnecting;
    open_at_ = std::exchange(open_next_at_, std::nullopt);
    selection_key_.reset();
    scroll_ = 0;
    lost_seen_.reset();
    has_extent_ = false;
    rate_ = EventRate();
  }
  session_id_ = id;
}

void Viewer::UpdateNearest(const TimelineModel& model) {
  if (scene_ != Scene::kNoEvents) return nearest_.reset();
  const Window& shown = viewport_.shown();
  const bool same = shown.start_ns == nearest_to_.start_ns && shown.end_ns == nearest_to_.end_ns;
  if (same && nearest_.has_value()) return;
  nearest_ = NearestTo(model, shown);
  nearest_to_ = shown;
}

void Viewer::GoToNearest() {
  if (!nearest_.has_value()) return;
  const Wide span = SpanOf(viewport_.target());
  // The edge of the data stands in the middle: what is found is seen to begin or end there.
  const Wide start = nearest_->time_ns - span / 2;
  viewport_.Jump({ClampToInt64(start), ClampToInt64(start + span)});
}

void Viewer::Adopt(const TimelineModel& model) {
  generation_ = model.generation();
  search_.Forget();
  name_steps_.Forget();
  launch_link_.Forget();
  stats_ = ViewStats();
  hover_.reset();
  level_hover_.reset();
  frame_hover_.reset();
  const std::optional<SelectionKey> key = std::exchange(selection_key_, std::nullopt);
  Select(model, std::nullopt);
  if (!key.has_value()) return;
  for (size_t lane = 0; lane < model.lanes().size(); ++lane) {
    const LaneFacts& facts = model.lanes()[lane]->facts;
    if (facts.session != key->session || facts.id != key->lane) continue;
    const EventStore& events = model.lanes()[lane]->events;
    for (size_t i = 0; i < events.size(); ++i) {
      if (events.start_ns(i) != key->start_ns || events.duration_ns(i) != key->duration_ns)
        continue;
      if (model.names().Full(events.name(i)) == key->name) return Select(model, EventRef{lane, i});
    }
  }
}

void Viewer::UpdateLosses(const TimelineModel& model, int64_t now_ns) {
  if (model.sessions().empty()) return;
  const uint64_t lost = model.lost_events();
  if (lost > lost_seen_.value_or(lost)) {
    lost_grew_ns_ = now_ns;
    losing_ = true;
  }
  lost_seen_ = lost;
  losing_ = losing_ && model.recording() && now_ns - lost_grew_ns_ < kLossAlarmNs;
}

// What the figures are asked for now. While the view moves with the end, they are those of a moment
// ago: asked for anew when they are there and old enough, not with every block.
ViewStats::Question Viewer::QuestionNow(const TimelineModel& model, int64_t now_ns) const {
  ViewStats::Question fresh = QuestionOf(model);
  if (model.phase() != TimelineModel::Phase::kLive) return fresh;
  const bool same_selection = fresh.lane == question_.lane && fresh.op == question_.op;
  const bool same_window = fresh.window.start_ns == question_.window.start_ns &&
                           fresh.window.end_ns == question_.window.end_ns;
  const bool moved = !same_window && !viewport_.following();
  const bool due = !stats_.working() && now_ns - asked_ns_ >= kLiveFiguresNs;
  const bool first = question_.model_version == 0;
  return !same_selection || moved || due || first ? fresh : question_;
}

void Viewer::UpdateFigures(const TimelineModel& model, int64_t now_ns) {
  const timeline::Window& window = viewport_.target();
  const bool moved = window.start_ns != still_.start_ns || window.end_ns != still_.end_ns;
  still_ = window;
  if ((moved && !viewport_.following()) || viewport_.gliding()) still_since_ns_ = now_ns;
  const ViewStats::Question question = QuestionNow(model, now_ns);
  if (!(question == question_)) asked_ns_ = now_ns;
  question_ = question;
  if (!model.Has(window)) {
    // Nobody has counted the events of this window.
    stats_ = ViewStats();
    figures_due_ = false;
    return;
  }
  // While somebody moves the window its figures would be those of a moment.
  figures_due_ = now_ns - still_since_ns_ < kFiguresDelayNs ||
                 !stats_.Work(model, question_, kStatEventsPerFrame);
}

void Viewer::Settle(const TimelineModel& model) {
  while (model.Has(viewport_.target()) && !stats_.Work(model, question_, kStatEventsPerFrame)) {
  }
  while (!board_.Work(model, layout_, scroll_, screen_.lanes.height, asked_ns_)) {
  }
  layout_.Update(model, board_.Terms(screen_.lanes.height));
  do {
    WorkOnSearchAndFilter(model);
  } while (hits_due_ || filter_due_);
}

void Viewer::UpdateWindow(const TimelineModel& model) {
  if (model.sessions().empty()) return;
  if (model.phase() != opened_phase_) OpenWindow(model);
  if (model.recording()) GrowWindow(model);
}

void Viewer::OpenWindow(const TimelineModel& model) {
  const bool was_live = viewport_.live();
  opened_phase_ = model.phase();
  overview_ = UsefulWindow(model);
  has_extent_ = model.expected_events() > 0;
  viewport_.SetBounds(model.extent());
  viewport_.SetLive(model.recording());
  // What is in sight when a session ends stays there.
  if (!viewport_.touched() && (!was_live || model.recording())) ShowOpening(model);
}

void Viewer::ShowOpening(const TimelineModel& model) {
  if (open_at_.has_value()) {
    viewport_.Open(*open_at_);
  } else if (options_.range.has_value() && first_session_) {
    const Wide origin = model.origin_ns();
    viewport_.Open({ClampToInt64(origin + options_.range->from_ns),
                    ClampToInt64(origin + options_.range->to_ns)});
  } else if (model.recording()) {
    viewport_.Open(NewestWindow(model.extent()));
    viewport_.FollowEndInSight();
  } else {
    viewport_.Open(overview_);
  }
}

void Viewer::GrowWindow(const TimelineModel& model) {
  const Window& extent = model.extent();
  const Window& known = viewport_.bounds();
  const bool same = extent.start_ns == known.start_ns && extent.end_ns == known.end_ns;
  const bool first = !has_extent_;
  if (model.expected_events() == 0 || (same && !first)) return;
  has_extent_ = true;
  if (first) viewport_ = Viewport();
  viewport_.SetLive(true);
  viewport_.Grow(extent);
  // The first seconds fill the width; then the view moves on with the end.
  if (first || (viewport_.following() && !viewport_.touched())) ShowOpening(model);
  // The overview grows by strides, so that it does not creep.
  if (extent.end_ns > overview_.end_ns || extent.start_ns < overview_.start_ns || first) {
    const Wide span = SpanOf(extent);
    overview_ = {ClampToInt64(extent.start_ns - span / 50), ClampToInt64(extent.end_ns + span / 4)};
  }
}

void Viewer::CarryOut(const Loaded& loaded, const Wishes& wishes) {
  const TimelineModel& model = loaded.model;
  scroll_ += wishes.scroll;
  if (wishes.toggle_keys) ToggleKeys();
  if (wishes.focus_search) wants_search_focus_ = true;
  if (wishes.escape) {
    if (keys_shown_) {
      keys_shown_ = false;
    } else if (filter_shown_) {
      filter_shown_ = false;
    } else if (!measure_.Clear()) {
      Select(model, std::nullopt);
    }
  }
  if (wishes.click.has_value()) Click(loaded, *wishes.click);
  if (wishes.next_hit || wishes.previous_hit) StepHits(model, wishes.previous_hit);
  if (wishes.next_hit && !search_.active()) GoToNearest();
  if (wishes.outside.has_value()) outside_ = wishes.outside;
  if (wishes.move.has_value()) Move(model, *wishes.move);
  if (wishes.measure) MeasureSelection(model);
  if (wishes.follow_end) viewport_.FollowEnd();
  if (!wishes.fit) return;
  if (selection_.has_value()) {
    const EventStore& events = model.lanes()[selection_->lane]->events;
    viewport_.JumpToSpan(events.start_ns(selection_->event), events.end_ns(selection_->event),
                         kClickMargin);
  } else {
    viewport_.Jump(UsefulWindow(model));
    viewport_.FollowEndInSight();
  }
}

void Viewer::Click(const Loaded& loaded, const Point& at) {
  const TimelineModel& model = loaded.model;
  const Row* row = RowUnder(at.x, at.y);
  if (row != nullptr && row->kind == RowKind::kApiSummary) {
    board_.arrangement().ToggleApi(row->group);
    return;
  }
  if (const std::optional<TileHover> tile = PickTile(loaded, at.x, at.y)) {
    const LongestEvent& longest = tile->spot.longest;
    viewport_.JumpToSpan(longest.start_ns,
                         ClampToInt64(static_cast<Wide>(longest.start_ns) + longest.duration_ns),
                         kClickMargin);
    return;
  }
  if (const std::optional<FrameHover> frame = PickFrame(at.x, at.y); frame.has_value()) {
    const StackSpan& span = board_.SpanOf(*frame);
    viewport_.JumpToSpan(span.start_ns, span.end_ns, kFrameMargin);
    return;
  }
  const std::optional<Hover> hit = Pick(model, at.x, at.y);
  if (!hit.has_value()) {
    Select(model, std::nullopt);
    return;
  }
  Select(model, hit->event);
  const EventStore& events = model.lanes()[hit->event.lane]->events;
  viewport_.JumpToSpan(events.start_ns(hit->event.event), events.end_ns(hit->event.event),
                       kClickMargin);
}

void Viewer::Select(const TimelineModel& model, const std::optional<EventRef>& event) {
  selection_ = event;
  selection_key_.reset();
  selected_facts_.reset();
  dictionary_seen_ = model.dictionary_version();
  if (!event.has_value()) return;
  absl::StatusOr<EventFacts> facts = FactsOf(model, *event);
  if (!facts.ok()) {
    selection_.reset();
    return;
  }
  selected_facts_ = *std::move(facts);
  const LaneModel& lane = *model.lanes()[event->lane];
  selection_key_ = SelectionKey{.session = lane.facts.session,
                                .lane = lane.facts.id,
                                .start_ns = lane.events.start_ns(event->event),
                                .duration_ns = lane.events.duration_ns(event->event),
                                .name = model.names().Full(lane.events.name(event->event))};
}

void Viewer::SelectTypical(const TimelineModel& model) {
  if (figures().ops.empty()) return;
  const NameId name = figures().ops.front().name;
  const timeline::Window& window = viewport_.target();
  std::optional<EventRef> best;
  Wide best_distance = 0;
  const Wide middle = window.start_ns + SpanOf(window) / 2;
  for (size_t lane = 0; lane < model.lanes().size(); ++lane) {
    const EventStore& events = model.lanes()[lane]->events;
    for (size_t i = 0; i < events.size(); ++i) {
      if (events.name(i) != name) continue;
      const Wide offset = events.start_ns(i) - middle;
      const Wide distance = offset < 0 ? -offset : offset;
      if (best.has_value() && distance >= best_distance) continue;
      best = EventRef{lane, i};
      best_distance = distance;
    }
  }
  Select(model, best);
}

ViewStats::Question Viewer::QuestionOf(const TimelineModel& model) const {
  ViewStats::Question question{.window = viewport_.target(), .lane = {}, .op = 0};
  // While events pour in, the figures would be asked for anew every frame and never be complete.
  question.model_version = model.phase() == TimelineModel::Phase::kLoading ? 0 : model.version();
  if (selection_.has_value()) {
    question.lane = selection_->lane;
    question.op = model.lanes()[selection_->lane]->events.name(selection_->event);
  }
  return question;
}

Scene Viewer::SceneOf(const Loaded& loaded) const {
  const TimelineModel& model = loaded.model;
  if (model.sessions().empty()) {
    const absl::Status& failure = loaded.failure;
    if (absl::IsUnavailable(failure)) return Scene::kNoServer;
    if (absl::IsNotFound(failure)) return Scene::kNoSession;
    return failure.ok() ? Scene::kConnecting : Scene::kFailed;
  }
  const bool complete = model.phase() == TimelineModel::Phase::kComplete;
  if (model.recording() && model.received_events() == 0 && model.expected_events() == 0) {
    return Scene::kWaiting;
  }
  if (!model.Has(viewport_.shown())) return Scene::kTimeline;
  if (complete && model.received_events() == 0 && !options_.range.has_value() && !model.is_part()) {
    return Scene::kEmpty;
  }
  if (!complete && model.phase() != TimelineModel::Phase::kLive) return Scene::kTimeline;
  for (const auto& lane : model.lanes()) {
    if (lane->rows.is_memory() ? lane->rows.LevelAt(viewport_.shown().end_ns).has_value()
                               : lane->rows.Count(viewport_.shown()) > 0) {
      return Scene::kTimeline;
    }
  }
  return Scene::kNoEvents;
}

}  // namespace nanolane::desktop
