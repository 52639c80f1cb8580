// Keeps a TimelineModel fed: starts the loader, moves its messages into the model within a frame's
// time, and tries again while there is no server.
//
// Where the stream of a running session starts anew, a second model is built while the first stays
// in sight; they are swapped once the second has caught up, so that no frame shows less than the
// one before it. For that time both are held in memory. UI thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "clients/desktop/model/big_session.h"
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

  // Applies everything until the stream has ended, or all that a running session has is there;
  // blocks. What then comes of it waits for the next pump.
  void PumpUntilLoaded();

  // What is in sight, once a frame: a session that is too large to be loaded is asked for it.
  void Show(const LanesInSight& sight);
  // The same for a picture without a person: blocks until all of it is there. True: something came.
  bool ShowAndWait(const LanesInSight& sight);

  const TimelineModel& model() const { return *model_; }
  Loaded loaded() const {
    return {*model_, last_failure_, big_ != nullptr ? &big_->tiles() : nullptr};
  }
  // Nothing has come of the last try; the next one follows by itself.
  bool waiting_to_retry() const { return retry_at_ns_ != 0; }
  // What the last try ended with, kept while the next one runs, or why a running session's stream
  // is not there now; OK when all is well.
  const absl::Status& last_failure() const { return last_failure_; }

 private:
  void Start();
  void Apply(LoaderMessage message);
  void Replace(LoaderMessage message);
  bool TakePart();

  const OpenChannelFunction open_channel_;
  const LoaderOptions options_;
  const base::Clock& clock_;
  uint64_t generations_ = 0;
  std::unique_ptr<TimelineModel> model_;
  std::unique_ptr<TimelineModel> next_;  // being built to replace the one in sight
  std::unique_ptr<TimelineLoader> loader_;
  std::unique_ptr<BigSession> big_;  // where the session is too large to be loaded
  absl::Status last_failure_;
  int64_t retry_at_ns_ = 0;
};

}  // namespace nanolane::desktop
