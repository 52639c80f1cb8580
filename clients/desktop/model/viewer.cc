#include "clients/desktop/model/viewer.h"

#include <algorithm>
#include <cmath>

#include "clients/desktop/model/opening_view.h"
#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {

void Viewer::Step(const Loaded& loaded, const Input& input, double width, double height,
                  double seconds, int64_t now_ns) {
  const TimelineModel& model = loaded.model;
  screen_ = LayOutScreen(width, height);
  layout_.Update(model);
  UpdateWindow(model);
  viewport_.Tick(now_ns);
  wants_search_focus_ = false;
  const Wishes wishes = navigator_.Step(input, screen_, overview_, seconds, viewport_);
  CarryOut(model, wishes);
  layout_.Update(model);
  scroll_ = std::clamp(scroll_, 0.0, std::max(0.0, layout_.height() - screen_.lanes.height));
  search_.Update(model.names());
  hits_due_ = !hits_.Work(model, search_, kStatEventsPerFrame);
  UpdateHover(model, input);
  UpdateFigures(model, now_ns);
  scene_ = SceneOf(loaded);
}

void Viewer::UpdateFigures(const TimelineModel& model, int64_t now_ns) {
  const timeline::Window& window = viewport_.target();
  const bool moved = window.start_ns != still_.start_ns || window.end_ns != still_.end_ns;
  if (moved || viewport_.gliding()) {
    still_ = window;
    still_since_ns_ = now_ns;
  }
  // While the window moves its figures would be those of a moment.
  figures_due_ = now_ns - still_since_ns_ < kFiguresDelayNs ||
                 !stats_.Work(model, QuestionOf(model), kStatEventsPerFrame);
}

void Viewer::Settle(const TimelineModel& model) {
  while (!stats_.Work(model, QuestionOf(model), kStatEventsPerFrame)) {
  }
}

void Viewer::UpdateWindow(const TimelineModel& model) {
  if (model.sessions().empty() || model.phase() == opened_phase_) return;
  opened_phase_ = model.phase();
  const timeline::Window useful = UsefulWindow(model);
  overview_ = useful;
  viewport_.SetBounds(model.extent());
  if (viewport_.touched()) return;
  if (options_.range.has_value()) {
    const Wide origin = model.origin_ns();
    viewport_.Open({ClampToInt64(origin + options_.range->from_ns),
                    ClampToInt64(origin + options_.range->to_ns)});
  } else {
    viewport_.Open(useful);
  }
}

void Viewer::CarryOut(const TimelineModel& model, const Wishes& wishes) {
  scroll_ += wishes.scroll;
  if (wishes.toggle_keys) ToggleKeys();
  if (wishes.focus_search) wants_search_focus_ = true;
  if (wishes.escape) {
    if (keys_shown_) {
      keys_shown_ = false;
    } else {
      Select(model, std::nullopt);
    }
  }
  if (wishes.click.has_value()) Click(model, *wishes.click);
  if (wishes.label_click.has_value()) {
    const auto row = layout_.RowAt(wishes.label_click->y - screen_.lanes.y + scroll_);
    if (row.has_value() && layout_.rows()[*row].kind == RowKind::kHeader) {
      const std::string group = layout_.rows()[*row].group;
      layout_.ToggleGroup(group);
    }
  }
  if (wishes.next_hit || wishes.previous_hit) StepHits(model, wishes.previous_hit);
  if (!wishes.fit) return;
  if (selection_.has_value()) {
    const EventStore& events = model.lanes()[selection_->lane]->events;
    viewport_.JumpToSpan(events.start_ns(selection_->event), events.end_ns(selection_->event),
                         kClickMargin);
  } else {
    viewport_.Jump(UsefulWindow(model));
  }
}

void Viewer::StepHits(const TimelineModel& model, bool backwards) {
  const std::optional<EventRef> hit =
      hits_.Next(model, selection_, viewport_.target().start_ns, backwards);
  if (!hit.has_value()) return;
  Select(model, hit);
  const EventStore& events = model.lanes()[hit->lane]->events;
  const Window& window = viewport_.target();
  const Wide start = events.start_ns(hit->event);
  const Wide end = events.end_ns(hit->event);
  // The zoom stays as it is, unless the hit is wider than the window.
  if (start >= window.start_ns && end <= window.end_ns) return;
  const Wide span = std::max<Wide>(SpanOf(window), (end - start) * 2);
  const Wide left = (start + end) / 2 - span / 2;
  viewport_.Jump({ClampToInt64(left), ClampToInt64(left + span)});
}

void Viewer::Click(const TimelineModel& model, const Point& at) {
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
  selected_facts_.reset();
  if (!event.has_value()) return;
  absl::StatusOr<EventFacts> facts = FactsOf(model, *event);
  if (facts.ok()) {
    selected_facts_ = *std::move(facts);
  } else {
    selection_.reset();
  }
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

const Row* Viewer::RowUnder(double x, double y) const {
  if (!screen_.lanes.Contains(x, y)) return nullptr;
  const std::optional<size_t> row = layout_.RowAt(y - screen_.lanes.y + scroll_);
  return row.has_value() ? &layout_.rows()[*row] : nullptr;
}

std::optional<Hover> Viewer::Pick(const TimelineModel& model, double x, double y) const {
  const Row* row = RowUnder(x, y);
  if (row == nullptr || row->kind == RowKind::kHeader || row->kind == RowKind::kMemory) {
    return std::nullopt;
  }
  const Row& hit = *row;
  const LaneModel& lane = *model.lanes()[hit.lane];
  const timeline::Window& window = viewport_.shown();
  const double width = screen_.lanes.width;
  const double at = x - screen_.lanes.x;
  const int64_t slop =
      ClampToInt64(static_cast<Wide>(kPickSlop / width * static_cast<double>(SpanOf(window))));
  const std::optional<size_t> event = lane.rows.EventAt(hit.depth, TimeAt(window, width, at), slop);
  if (!event.has_value()) return std::nullopt;
  const double pixel = std::floor(at * options_.device_scale) / options_.device_scale;
  const timeline::Window column{TimeAt(window, width, pixel),
                                TimeAt(window, width, pixel + 1 / options_.device_scale)};
  return Hover{{hit.lane, *event},
               static_cast<size_t>(row - layout_.rows().data()),
               hit.kind == RowKind::kNvtx ? 0 : lane.rows.Count(column)};
}

void Viewer::UpdateHover(const TimelineModel& model, const Input& input) {
  hover_.reset();
  level_hover_.reset();
  if (input.mouse_taken || navigator_.dragging() || viewport_.gliding()) return;
  const Row* row = RowUnder(input.mouse_x, input.mouse_y);
  if (row == nullptr || row->kind != RowKind::kMemory) {
    hover_ = Pick(model, input.mouse_x, input.mouse_y);
    return;
  }
  const int64_t time =
      TimeAt(viewport_.shown(), screen_.lanes.width, input.mouse_x - screen_.lanes.x);
  const std::optional<MemoryLevel> level = model.lanes()[row->lane]->rows.LevelAt(time);
  if (level.has_value()) level_hover_ = LevelHover{row->lane, time, *level};
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
  if (complete && model.received_events() == 0 && !options_.range.has_value()) return Scene::kEmpty;
  if (!complete) return Scene::kTimeline;
  for (const auto& lane : model.lanes()) {
    if (lane->rows.is_memory() ? lane->rows.LevelAt(viewport_.shown().end_ns).has_value()
                               : lane->rows.Count(viewport_.shown()) > 0) {
      return Scene::kTimeline;
    }
  }
  return Scene::kNoEvents;
}

}  // namespace nanolane::desktop
