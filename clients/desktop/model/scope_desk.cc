#include "clients/desktop/model/scope_desk.h"

#include <algorithm>
#include <utility>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

constexpr Wide kPadShare = 50;        // of the strip, beside what lies at its ends
constexpr Wide kSteps = 240;          // in which the strip of the last minutes moves on
constexpr size_t kMostAsked = 5'000;  // sessions in one question
constexpr int kFinestBinLevel = 20;   // of the server: about 1 ms
constexpr double kBinsPerColumn = 2;  // at most; half of it at least

timeline::Window Moved(const timeline::Window& window, Wide by) {
  return {ClampToInt64(window.start_ns + by), ClampToInt64(window.end_ns + by)};
}

Wide OffsetOf(const SessionFacts& session) {
  return session.unix_offset_known ? session.unix_offset_ns : 0;
}

}  // namespace

void ScopeDesk::Update(const TimelineModel& model, const Now& now) {
  UpdateSessions(model, now);
  Reselect();
  UpdateStrip();
  UpdateChoices();
}

void ScopeDesk::UpdateSessions(const TimelineModel& model, const Now& now) {
  const uint64_t before = now_.catalog == nullptr ? 0 : now_.catalog->version;
  now_ = now;
  const uint64_t version = now_.catalog == nullptr ? 0 : now_.catalog->version;
  if (version != before) sessions_ = now_.catalog->sessions;
  shown_.reset();
  if (model.sessions().empty()) return;
  const SessionFacts& facts = model.sessions().front();
  const auto found = std::find_if(sessions_.begin(), sessions_.end(),
                                  [&](const SessionFacts& known) { return known.id == facts.id; });
  shown_ = static_cast<size_t>(found - sessions_.begin());
  if (found == sessions_.end()) {
    sessions_.push_back(facts);
  } else {
    const uint64_t bytes = std::max(found->stored_bytes, facts.stored_bytes);
    *found = facts;
    found->stored_bytes = bytes;
  }
  if (facts.id == shown_id_) return;
  shown_id_ = facts.id;
  if (chosen_ && Selects(scope_, facts, now_.unix_ns)) return;
  const TimeChoice time = scope_.time;
  scope_ = ScopeOf(facts);
  if (chosen_) scope_.time = time;
}

void ScopeDesk::Reselect() { selected_ = Selected(scope_, sessions_, now_.unix_ns); }

const SessionFacts* ScopeDesk::shown() const {
  return shown_.has_value() ? &sessions_[*shown_] : nullptr;
}

timeline::Window ScopeDesk::ToUnix(const timeline::Window& session_time) const {
  return shown() == nullptr ? session_time : Moved(session_time, OffsetOf(*shown()));
}

timeline::Window ScopeDesk::FromUnix(const timeline::Window& unix_window) const {
  return shown() == nullptr ? unix_window : Moved(unix_window, -OffsetOf(*shown()));
}

void ScopeDesk::UpdateStrip() {
  strip_.reset();
  if (shown() == nullptr) return;
  std::optional<timeline::Window> range = RangeOf(scope_.time, now_.unix_ns);
  if (range.has_value()) {
    if (scope_.time.kind == TimeChoice::Kind::kLast) {
      // By steps, so that it does not creep and is not asked for with every frame.
      const Wide step = std::max<Wide>(1, SpanOf(*range) / kSteps);
      const Wide end = (range->end_ns / step + 1) * step;
      range = timeline::Window{ClampToInt64(end - scope_.time.last_ns), ClampToInt64(end)};
    }
    strip_ = FromUnix(*range);
    return;
  }
  timeline::Window hull = ToUnix(now_.overview);
  bool wider = false;
  for (const size_t i : selected_) {
    const SessionFacts& session = sessions_[i];
    // Where a clock is not known, its sessions have no place among the others.
    if (i == *shown_ || session.events == 0) continue;
    if (session.unix_offset_known != shown()->unix_offset_known) continue;
    const timeline::Window extent = UnixExtent(session);
    if (extent.start_ns >= hull.start_ns && extent.end_ns <= hull.end_ns) continue;
    wider = true;
    hull = {std::min(hull.start_ns, extent.start_ns), std::max(hull.end_ns, extent.end_ns)};
  }
  const Wide pad = wider ? SpanOf(hull) / kPadShare : 0;
  strip_ = FromUnix({ClampToInt64(hull.start_ns - pad), ClampToInt64(hull.end_ns + pad)});
}

bool ScopeDesk::StripFromServer(double columns) const {
  if (now_.density == nullptr || !strip_.has_value()) return false;
  const bool alone = selected_.size() == 1 && shown_.has_value() && selected_.front() == *shown_;
  const double column_ns = static_cast<double>(SpanOf(*strip_)) / std::max(columns, 1.0);
  return !alone || column_ns >= static_cast<double>(int64_t{1} << kFinestBinLevel);
}

std::optional<DensityQuestion> ScopeDesk::Question(double columns) const {
  if (!strip_.has_value() || now_.catalog == nullptr || now_.catalog->version == 0) {
    return std::nullopt;
  }
  DensityQuestion question{.session_ids = {}, .window = ToUnix(*strip_), .bins = 1, .events = 0};
  while (question.bins < columns * kBinsPerColumn) question.bins *= 2;
  for (const size_t i : selected_) {
    if (question.session_ids.size() < kMostAsked) question.session_ids.push_back(sessions_[i].id);
  }
  if (question.session_ids.empty()) return std::nullopt;
  // As the list had them: what the session in sight gains meanwhile is asked for with the next one.
  for (const SessionFacts& session : now_.catalog->sessions) {
    if (Selects(scope_, session, now_.unix_ns)) question.events += session.events;
  }
  return question;
}

void ScopeDesk::UpdateChoices() {
  if (!picker_.open()) return;
  const timeline::Window sight = shown() == nullptr || !shown()->unix_offset_known
                                     ? timeline::Window{0, 0}
                                     : ToUnix(now_.sight);
  std::vector<Choice> choices =
      ChoicesOf(*picker_.part(), scope_, sessions_, shown_id_, sight, now_.unix_ns);
  if (*picker_.part() == ScopePart::kTime) {
    const int64_t day = sight.end_ns > sight.start_ns ? sight.start_ns : now_.unix_ns;
    const auto typed = ParseClockRange(picker_.text(), day);
    if (typed.ok()) {
      Scope scope = scope_;
      scope.time = {.kind = TimeChoice::Kind::kExact, .last_ns = 0, .exact = *typed};
      const size_t held = Selected(scope, sessions_, now_.unix_ns).size();
      choices = {{.title = ClockRangeText(*typed, now_.unix_ns),
                  // The text matches itself.
                  .detail = picker_.text(),
                  .live = false,
                  .chosen = false,
                  .empty = held == 0,
                  .scope = std::move(scope),
                  .session = ""}};
    }
  }
  picker_.SetChoices(std::move(choices));
}

void ScopeDesk::Step(const Input& input) {
  const std::optional<ScopePart> part = picker_.part();
  const std::optional<Choice> taken = picker_.Step(input);
  if (taken.has_value()) Choose(*part, *taken);
}

void ScopeDesk::TogglePicker(ScopePart part) {
  if (picker_.part() == part) {
    picker_.Close();
  } else {
    picker_.Open(part);
    UpdateChoices();
  }
}

void ScopeDesk::TakeRow(size_t row) {
  const std::optional<ScopePart> part = picker_.part();
  const std::optional<Choice> taken = picker_.Take(row);
  if (taken.has_value()) Choose(*part, *taken);
}

void ScopeDesk::Choose(ScopePart part, const Choice& choice) {
  chosen_ = true;
  // A range of time in which nothing lies is an answer; any other part is chosen to see something.
  scope_ = part == ScopePart::kTime ? choice.scope
                                    : Widened(choice.scope, part, sessions_, now_.unix_ns);
  Reselect();
  if (!choice.session.empty()) {
    if (choice.session != shown_id_) request_ = OpenRequest{choice.session, std::nullopt};
    return;
  }
  if (selected_.empty()) return;
  const bool in_sight = shown_.has_value() &&
                        std::find(selected_.begin(), selected_.end(), *shown_) != selected_.end();
  if (in_sight) return;
  const auto newest = std::max_element(selected_.begin(), selected_.end(), [&](size_t a, size_t b) {
    const SessionFacts& x = sessions_[a];
    const SessionFacts& y = sessions_[b];
    return std::pair(!x.ended, UnixExtent(x).start_ns) <
           std::pair(!y.ended, UnixExtent(y).start_ns);
  });
  request_ = OpenRequest{sessions_[*newest].id, std::nullopt};
}

const SessionFacts* ScopeDesk::OtherIn(const timeline::Window& unix_window) const {
  const SessionFacts* best = nullptr;
  Wide most = -1;
  for (const size_t i : selected_) {
    const SessionFacts& session = sessions_[i];
    if (session.id == shown_id_ || session.events == 0) continue;
    const timeline::Window extent = UnixExtent(session);
    const Wide overlap = static_cast<Wide>(std::min(extent.end_ns, unix_window.end_ns)) -
                         std::max(extent.start_ns, unix_window.start_ns);
    if (overlap < 0 || overlap <= most) continue;
    most = overlap;
    best = &session;
  }
  return best;
}

bool ScopeDesk::OpenAt(const timeline::Window& window) {
  const timeline::Window unix_window = ToUnix(window);
  const SessionFacts* session = OtherIn(unix_window);
  if (session == nullptr) return false;
  request_ = OpenRequest{session->id, Moved(unix_window, -OffsetOf(*session))};
  return true;
}

std::optional<OpenRequest> ScopeDesk::TakeRequest() {
  return std::exchange(request_, std::nullopt);
}

}  // namespace nanolane::desktop
