// Reads one timeline from the query service on a thread of its own: picks the session, opens the
// stream, decodes blocks, and hands over messages through a bounded queue.
//
// A session that has ended is read once. One that is running is followed until it ends: its state,
// then what it gets. When that stream breaks it is resumed after the last step that came whole, so
// that nothing comes twice and nothing is left out; the tries have pauses between them, longer and
// longer up to a bound.
//
// When the queue is full the thread waits, which stops its reads, which slows its stream on the
// server: a viewer that cannot keep up costs nobody memory. Errors are the last message
// (StreamEnded), never a log line or a missing one. Destroying the loader cancels the call and
// joins the thread; nothing is posted after that.
//
// Thread-compatible: Take() and the destructor belong to one thread (the UI's).
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "clients/desktop/model/block_reader.h"
#include "clients/desktop/model/follow_steps.h"
#include "clients/desktop/model/session_facts.h"
#include "grpcpp/grpcpp.h"
#include "libs/base/bounded_queue.h"
#include "libs/base/mutex.h"
#include "libs/base/time_text.h"
#include "nanolane/query/v1/query.grpc.pb.h"

namespace nanolane::desktop {

struct LoaderOptions {
  std::string server;   // as a person wrote it, for messages
  std::string session;  // an id or the first digits of one; empty: the newest
  // Only what overlaps this, counted from the session's start; nothing: everything. A running
  // session comes whole all the same.
  std::optional<base::TimeRange> range;
  // A session that has ended and has more events than this is not read: its lanes are told, and
  // that no event comes (StreamOpened::is_part). Where a range has more, RESOURCE_EXHAUSTED.
  uint64_t most_events = std::numeric_limits<uint64_t>::max();
  // Of such a session, the events of a window that are loaded at most (big_session.h).
  uint64_t most_part_events = 2'000'000;
  // Whether the stream of a running session is resumed when it breaks; else its end is the
  // timeline's.
  bool resume = true;
  // Before the first try to resume; each further one that brings nothing doubles it, up to
  // kLongestPause.
  std::chrono::nanoseconds first_pause = std::chrono::milliseconds(100);
  // Called after each message is queued, on the loader's thread: wakes the UI.
  std::function<void()> on_message = [] {};
};

class TimelineLoader {
 public:
  static constexpr size_t kQueuedMessages = 64;
  static constexpr std::chrono::nanoseconds kLongestPause = std::chrono::seconds(2);

  TimelineLoader(std::shared_ptr<grpc::Channel> channel, LoaderOptions options);
  ~TimelineLoader();
  TimelineLoader(const TimelineLoader&) = delete;
  TimelineLoader& operator=(const TimelineLoader&) = delete;

  // The next message, if there is one now. Never blocks.
  std::optional<LoaderMessage> Take() { return queue_.TryPop(); }
  // The next message; blocks until there is one. Nothing: StreamEnded was taken.
  std::optional<LoaderMessage> Wait() { return queue_.Pop(); }

 private:
  using Stub = query::v1::QueryService::Stub;

  void Run();
  absl::Status Load();
  absl::StatusOr<trace::v1::SessionSummary> PickSession();
  absl::Status Stream(const trace::v1::SessionSummary& session);
  absl::Status TellLanes(const trace::v1::SessionSummary& session);
  absl::Status Follow(const trace::v1::SessionSummary& session);
  absl::Status FollowOnce(const std::string& session_id, FollowSteps& steps);
  // CANCELLED: the viewer has gone meanwhile.
  absl::Status Rest(std::chrono::nanoseconds pause);
  absl::Status Forward(const query::v1::StreamTimelineResponse& response);
  absl::Status ForwardBlocks(const query::v1::BlockChunk& chunk, uint64_t expected_events);
  absl::Status Post(LoaderMessage message);
  absl::Status FromGrpc(const grpc::Status& status) const;
  // The context that the destructor may cancel; CANCELLED when it already has.
  absl::StatusOr<std::unique_ptr<grpc::ClientContext>> Begin();
  void Done();

  const LoaderOptions options_;
  const std::unique_ptr<Stub> stub_;
  base::BoundedQueue<LoaderMessage> queue_{kQueuedMessages};
  BlockReader blocks_;  // loader's thread only
  base::Mutex mutex_;
  base::CondVar cancelling_;
  grpc::ClientContext* call_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else stands
};

}  // namespace nanolane::desktop
