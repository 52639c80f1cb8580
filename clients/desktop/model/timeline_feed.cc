#include "clients/desktop/model/timeline_feed.h"

#include <algorithm>
#include <utility>

namespace nanolane::desktop {

TimelineFeed::TimelineFeed(OpenChannelFunction open_channel, LoaderOptions options,
                           const base::Clock& clock)
    : open_channel_(std::move(open_channel)), clock_(clock), shown_(Begin(std::move(options))) {}

TimelineFeed::Source TimelineFeed::Begin(LoaderOptions options) {
  Source source;
  source.options = std::move(options);
  source.model = std::make_unique<TimelineModel>(++generations_);
  source.loader = std::make_unique<TimelineLoader>(open_channel_(), source.options);
  return source;
}

void TimelineFeed::Open(const std::string& session_id) {
  LoaderOptions options = shown_.options;
  options.session = session_id;
  options.range.reset();
  open_failed_ = absl::OkStatus();
  opening_.reset();
  if (shown_.model->sessions().empty()) {
    retry_at_ns_ = 0;
    shown_ = Begin(std::move(options));
  } else {
    opening_ = Begin(std::move(options));
  }
}

Loaded TimelineFeed::loaded() const {
  const int64_t left = retry_at_ns_ == 0 ? 0 : retry_at_ns_ - clock_.MonotonicNanos();
  return {*shown_.model, shown_.failure,
          Attempt{.tries = tries_,
                  .retry_in_ns = std::max<int64_t>(left, 0),
                  .opening = opening_.has_value() ? opening_->options.session : "",
                  .open_failed = open_failed_},
          shown_.big != nullptr ? &shown_.big->tiles() : nullptr};
}

bool TimelineFeed::Pump(int64_t budget_ns) {
  const int64_t began_ns = clock_.MonotonicNanos();
  if (retry_at_ns_ != 0 && began_ns >= retry_at_ns_) {
    retry_at_ns_ = 0;
    absl::Status failure = std::move(shown_.failure);
    shown_ = Begin(shown_.options);
    shown_.failure = std::move(failure);
  }
  bool changed = false;
  if (shown_.big != nullptr) {
    changed = shown_.big->Pump();
    changed |= TakePart();
  }
  do {
    // What is being opened goes first: it is what somebody waits for.
    std::optional<LoaderMessage> message;
    if (opening_.has_value() && (message = opening_->loader->Take()).has_value()) {
      Apply(*opening_, *std::move(message));
      ChangeOver();
    } else if ((message = shown_.loader->Take()).has_value()) {
      Apply(shown_, *std::move(message));
      PlanRetry();
    } else {
      break;
    }
    changed = true;
  } while (clock_.MonotonicNanos() - began_ns < budget_ns);
  return changed;
}

bool TimelineFeed::TakePart() {
  std::unique_ptr<TimelineModel> part = shown_.big->TakePart();
  if (part == nullptr) return false;
  shown_.model = std::move(part);
  return true;
}

void TimelineFeed::Show(const LanesInSight& sight) {
  if (shown_.big != nullptr) shown_.big->Show(*shown_.model, sight, clock_.MonotonicNanos());
}

bool TimelineFeed::ShowAndWait(const LanesInSight& sight) {
  if (shown_.big == nullptr) return false;
  BigSession& big = *shown_.big;
  const uint64_t tiles_before = big.tiles().version();
  // As if the window had stood still for long enough.
  const int64_t now_ns = clock_.MonotonicNanos();
  big.Show(*shown_.model, sight, now_ns);
  big.Show(*shown_.model, sight, now_ns + BigSession::kRestNs);
  big.WaitForTiles();
  big.WaitForPart();
  return TakePart() || big.tiles().version() != tiles_before;
}

void TimelineFeed::PumpUntilLoaded() {
  const auto loaded = [this] {
    const TimelineModel::Phase phase = shown_.model->phase();
    return shown_.next == nullptr &&
           (phase == TimelineModel::Phase::kLive || phase == TimelineModel::Phase::kFailed);
  };
  while (!loaded()) {
    std::optional<LoaderMessage> message = shown_.loader->Wait();
    if (!message.has_value()) return;
    Apply(shown_, *std::move(message));
    PlanRetry();
  }
}

void TimelineFeed::Apply(Source& to, LoaderMessage message) {
  if (const auto* interrupted = std::get_if<Interrupted>(&message)) {
    to.failure = interrupted->status;
    return;
  }
  const bool opened = std::holds_alternative<StreamOpened>(message);
  if (const auto* session = std::get_if<StreamOpened>(&message);
      session != nullptr && session->is_part) {
    to.big = std::make_unique<BigSession>(open_channel_, to.options, *session);
    to.big->set_next_generation([this] { return ++generations_; });
  }
  if (opened || to.model->followed()) to.failure = absl::OkStatus();
  if (opened && !to.model->sessions().empty()) {
    to.next = std::make_unique<TimelineModel>(++generations_);
  }
  if (to.next != nullptr) {
    Replace(to, std::move(message));
  } else {
    to.model->Apply(std::move(message));
  }
  if (to.model->phase() == TimelineModel::Phase::kFailed) to.failure = to.model->status();
}

void TimelineFeed::PlanRetry() {
  if (!shown_.model->sessions().empty()) {
    // Where something has been loaded it stays in sight, with the error beside it.
    tries_ = 0;
    return;
  }
  if (shown_.model->phase() != TimelineModel::Phase::kFailed) return;
  const absl::Status& failure = shown_.failure;
  const bool no_session = absl::IsNotFound(failure);
  if (!no_session && !absl::IsUnavailable(failure) && !absl::IsDeadlineExceeded(failure)) return;
  constexpr int kMostDoublings = 10;
  const int64_t longest = no_session ? kLongestSessionRetryNs : kLongestRetryNs;
  const int64_t pause = std::min(kFirstRetryNs << std::min(tries_, kMostDoublings), longest);
  ++tries_;
  retry_at_ns_ = clock_.MonotonicNanos() + pause;
}

void TimelineFeed::ChangeOver() {
  const TimelineModel& model = *opening_->model;
  const TimelineModel::Phase phase = model.phase();
  const bool failed = phase == TimelineModel::Phase::kFailed;
  if (failed && model.received_events() == 0) {
    open_failed_ = opening_->failure;
    opening_.reset();
    return;
  }
  const bool whole =
      phase == TimelineModel::Phase::kLive || phase == TimelineModel::Phase::kComplete;
  if (model.received_events() == 0 && !whole) return;
  shown_ = *std::move(opening_);
  opening_.reset();
}

void TimelineFeed::Replace(Source& in, LoaderMessage message) {
  in.next->Apply(std::move(message));
  switch (in.next->phase()) {
    case TimelineModel::Phase::kConnecting:
    case TimelineModel::Phase::kLoading: return;
    case TimelineModel::Phase::kLive:
    case TimelineModel::Phase::kComplete: in.model = std::move(in.next); return;
    case TimelineModel::Phase::kFailed: in.model->Apply(StreamEnded{in.next->status()});
  }
  in.next.reset();
}

}  // namespace nanolane::desktop
