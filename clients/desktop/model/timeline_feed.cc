#include "clients/desktop/model/timeline_feed.h"

#include <utility>

namespace nanolane::desktop {

TimelineFeed::TimelineFeed(OpenChannelFunction open_channel, LoaderOptions options,
                           const base::Clock& clock)
    : open_channel_(std::move(open_channel)), options_(std::move(options)), clock_(clock) {
  Start();
}

void TimelineFeed::Start() {
  retry_at_ns_ = 0;
  loader_.reset();
  next_.reset();
  big_.reset();
  model_ = std::make_unique<TimelineModel>(++generations_);
  loader_ = std::make_unique<TimelineLoader>(open_channel_(), options_);
}

bool TimelineFeed::Pump(int64_t budget_ns) {
  const int64_t began_ns = clock_.MonotonicNanos();
  if (retry_at_ns_ != 0 && began_ns >= retry_at_ns_) Start();
  bool changed = false;
  if (big_ != nullptr) {
    changed = big_->Pump();
    changed |= TakePart();
  }
  do {
    std::optional<LoaderMessage> message = loader_->Take();
    if (!message.has_value()) break;
    Apply(std::move(*message));
    changed = true;
  } while (clock_.MonotonicNanos() - began_ns < budget_ns);
  return changed;
}

bool TimelineFeed::TakePart() {
  std::unique_ptr<TimelineModel> part = big_->TakePart();
  if (part == nullptr) return false;
  model_ = std::move(part);
  return true;
}

void TimelineFeed::Show(const LanesInSight& sight) {
  if (big_ != nullptr) big_->Show(*model_, sight, clock_.MonotonicNanos());
}

bool TimelineFeed::ShowAndWait(const LanesInSight& sight) {
  if (big_ == nullptr) return false;
  const uint64_t tiles_before = big_->tiles().version();
  // As if the window had stood still for long enough.
  const int64_t now_ns = clock_.MonotonicNanos();
  big_->Show(*model_, sight, now_ns);
  big_->Show(*model_, sight, now_ns + BigSession::kRestNs);
  big_->WaitForTiles();
  big_->WaitForPart();
  return TakePart() || big_->tiles().version() != tiles_before;
}

void TimelineFeed::PumpUntilLoaded() {
  const auto loaded = [this] {
    const TimelineModel::Phase phase = model_->phase();
    return next_ == nullptr &&
           (phase == TimelineModel::Phase::kLive || phase == TimelineModel::Phase::kFailed);
  };
  while (!loaded()) {
    std::optional<LoaderMessage> message = loader_->Wait();
    if (!message.has_value()) return;
    Apply(std::move(*message));
  }
}

void TimelineFeed::Apply(LoaderMessage message) {
  if (const auto* interrupted = std::get_if<Interrupted>(&message)) {
    last_failure_ = interrupted->status;
    return;
  }
  const bool opened = std::holds_alternative<StreamOpened>(message);
  const bool was_empty = model_->sessions().empty();
  if (opened || model_->followed()) last_failure_ = absl::OkStatus();
  if (const auto* session = std::get_if<StreamOpened>(&message);
      session != nullptr && session->is_part) {
    big_ = std::make_unique<BigSession>(open_channel_, options_, *session);
    big_->set_next_generation([this] { return ++generations_; });
  }
  if (opened && !was_empty) next_ = std::make_unique<TimelineModel>(++generations_);
  if (next_ != nullptr) {
    Replace(std::move(message));
  } else {
    model_->Apply(std::move(message));
  }
  if (model_->phase() != TimelineModel::Phase::kFailed) return;
  last_failure_ = model_->status();
  // Where something has been loaded it stays in sight, with the error beside it.
  const bool may_come = absl::IsUnavailable(last_failure_) || absl::IsNotFound(last_failure_) ||
                        absl::IsDeadlineExceeded(last_failure_);
  if (was_empty && may_come) retry_at_ns_ = clock_.MonotonicNanos() + kRetryNs;
}

void TimelineFeed::Replace(LoaderMessage message) {
  next_->Apply(std::move(message));
  switch (next_->phase()) {
    case TimelineModel::Phase::kConnecting:
    case TimelineModel::Phase::kLoading: return;
    case TimelineModel::Phase::kLive:
    case TimelineModel::Phase::kComplete: model_ = std::move(next_); return;
    case TimelineModel::Phase::kFailed: model_->Apply(StreamEnded{next_->status()});
  }
  next_.reset();
}

}  // namespace nanolane::desktop
