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
  model_ = std::make_unique<TimelineModel>();
  loader_ = std::make_unique<TimelineLoader>(open_channel_(), options_);
}

bool TimelineFeed::Pump(int64_t budget_ns) {
  const int64_t began_ns = clock_.MonotonicNanos();
  if (retry_at_ns_ != 0 && began_ns >= retry_at_ns_) Start();
  bool changed = false;
  do {
    std::optional<LoaderMessage> message = loader_->Take();
    if (!message.has_value()) break;
    Apply(std::move(*message));
    changed = true;
  } while (clock_.MonotonicNanos() - began_ns < budget_ns);
  return changed;
}

void TimelineFeed::PumpToEnd() {
  while (std::optional<LoaderMessage> message = loader_->Wait()) Apply(std::move(*message));
}

void TimelineFeed::Apply(LoaderMessage message) {
  const bool opened = std::holds_alternative<StreamOpened>(message);
  const bool was_empty = model_->sessions().empty();
  model_->Apply(std::move(message));
  if (opened) last_failure_ = absl::OkStatus();
  if (model_->phase() != TimelineModel::Phase::kFailed) return;
  last_failure_ = model_->status();
  // Where something has been loaded it stays in sight, with the error beside it.
  const bool may_come = absl::IsUnavailable(last_failure_) || absl::IsNotFound(last_failure_) ||
                        absl::IsDeadlineExceeded(last_failure_);
  if (was_empty && may_come) retry_at_ns_ = clock_.MonotonicNanos() + kRetryNs;
}

}  // namespace nanolane::desktop
