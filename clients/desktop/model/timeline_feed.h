// Keeps a TimelineModel fed: starts the loader, moves its messages into the model within a frame's
// time, tries again while there is no server, and changes over to another session.
//
// What is in sight stays until there is something to show in its place. Where the stream of a
// running session starts anew, a second model is built beside the first; they are swapped once the
// second has caught up, so that no frame shows less than the one before it. Where another session
// is opened, the one in sight goes on (it is followed still, if it runs) until the first events of
// the other have come, or all of it where it has none; if it cannot be opened, the first stays. For
// that time both are held in memory. UI thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "clients/desktop/model/big_session.h"
#include "clients/desktop/model/timeline_loader.h"
#include "clients/desktop/model/timeline_model.h"
#include "libs/base/clock.h"

namespace nanolane::desktop {

class TimelineFeed {
 public:
  // Pauses between tries double from the first to the longest; to the shorter bound where a server
  // answers that it has no session, because one may begin at any moment.
  static constexpr int64_t kFirstRetryNs = 500'000'000;
  static constexpr int64_t kLongestRetryNs = 8'000'000'000;
  static constexpr int64_t kLongestSessionRetryNs = 2'000'000'000;

  using OpenChannelFunction = std::function<std::shared_ptr<grpc::Channel>()>;

  TimelineFeed(OpenChannelFunction open_channel, LoaderOptions options, const base::Clock& clock);

  // Opens the session of this id, whole, in place of the one in sight. Opening the one in sight
  // reads it anew. What was being opened before is given up.
  void Open(const std::string& session_id);

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

  const TimelineModel& model() const { return *shown_.model; }
  Loaded loaded() const;
  // Nothing has come of the last try; the next one follows by itself.
  bool waiting_to_retry() const { return retry_at_ns_ != 0; }
  // What the last try ended with, kept while the next one runs, or why a running session's stream
  // is not there now; OK when all is well.
  const absl::Status& last_failure() const { return shown_.failure; }

 private:
  // A session and where it comes from.
  struct Source {
    LoaderOptions options;
    std::unique_ptr<TimelineModel> model;
    std::unique_ptr<TimelineModel> next;  // being built to replace the model
    absl::Status failure;
    std::unique_ptr<TimelineLoader> loader;
    std::unique_ptr<BigSession> big;  // where the session is too large to be loaded
  };

  Source Begin(LoaderOptions options);
  void Apply(Source& to, LoaderMessage message);
  void Replace(Source& in, LoaderMessage message);
  void PlanRetry();
  void ChangeOver();
  bool TakePart();

  const OpenChannelFunction open_channel_;
  const base::Clock& clock_;
  uint64_t generations_ = 0;
  Source shown_;
  std::optional<Source> opening_;
  absl::Status open_failed_;
  int tries_ = 0;
  int64_t retry_at_ns_ = 0;
};

}  // namespace nanolane::desktop
