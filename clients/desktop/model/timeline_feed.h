// Keeps a TimelineModel fed: starts the loader, moves its messages into the model within a frame's
// time, and tries again while there is no server. UI thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "clients/desktop/model/timeline_loader.h"
#include "clients/desktop/model/timeline_model.h"
#include "libs/base/clock.h"

namespace nanolane::desktop {

class TimelineFeed {
 public:
  static constexpr int64_t kRetryNs = 2'000'000'000;

  using OpenChannelFunction = std::function<std::shared_ptr<grpc::Channel>()>;

  TimelineFeed(OpenChannelFunction open_channel, LoaderOptions options, const base::Clock& clock);

  // Applies what has come, for up to `budget_ns` (at least one message, if there is one).
  // True: the model has changed.
  bool Pump(int64_t budget_ns);

  // Applies everything until the stream has ended, blocking.
  void PumpToEnd();

  const TimelineModel& model() const { return *model_; }
  Loaded loaded() const { return {*model_, last_failure_}; }
  // Nothing has come of the last try; the next one follows by itself.
  bool waiting_to_retry() const { return retry_at_ns_ != 0; }
  // What the last try ended with, kept while the next one runs; OK when none failed.
  const absl::Status& last_failure() const { return last_failure_; }

 private:
  void Start();
  void Apply(LoaderMessage message);

  const OpenChannelFunction open_channel_;
  const LoaderOptions options_;
  const base::Clock& clock_;
  std::unique_ptr<TimelineModel> model_;
  std::unique_ptr<TimelineLoader> loader_;
  absl::Status last_failure_;
  int64_t retry_at_ns_ = 0;
};

}  // namespace nanolane::desktop
