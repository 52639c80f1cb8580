// A query service in this process on a free port, that serves prepared sessions. Tests slow it down
// or break it between messages. A session that is being recorded is a list of steps: a follower
// gets those after its cursor, as far as they have been let happen, and then waits for more.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "clients/desktop/testing/session_builder.h"
#include "grpcpp/grpcpp.h"
#include "libs/base/mutex.h"
#include "nanolane/query/v1/query.grpc.pb.h"

namespace nanolane::desktop {

class FakeQueryService final
    : public query::v1::QueryService::WithCallbackMethod_Follow<query::v1::QueryService::Service> {
 public:
  FakeQueryService();
  ~FakeQueryService() override;

  // Newest first, as it would be listed.
  void Serve(const SessionBuilder& session, size_t block_events = 4'096);
  void Serve(trace::v1::SessionSummary summary,
             std::vector<query::v1::StreamTimelineResponse> messages);
  // A session that is being recorded; `summary` is how it is listed. The first `happened` steps are
  // there.
  void Record(trace::v1::SessionSummary summary, std::vector<query::v1::FollowResponse> steps,
              size_t happened);
  // Lets `count` further steps happen.
  void Happen(size_t count);
  // How often the list was read; each reading may be refused before it is answered.
  size_t listings() const { return listings_; }
  void set_before_list(std::function<grpc::Status()> hook) { before_list_ = std::move(hook); }
  // Answers every question for density; the questions are kept.
  void set_density(
      std::function<query::v1::GetDensityResponse(const query::v1::GetDensityRequest&)> answer) {
    density_ = std::move(answer);
  }

  // Called before step `index` of the recorded session is written; not OK ends the stream with that
  // status.
  void set_before_step(std::function<grpc::Status(size_t index)> hook) {
    before_step_ = std::move(hook);
  }
  // Called when a follower has gone.
  void set_after_follow(std::function<void()> hook) { after_follow_ = std::move(hook); }
  // How often somebody began to follow, and from which cursor last.
  size_t follows() const;
  uint64_t last_cursor() const;

  // Called before message `index` of a timeline is written; not OK ends the stream with that
  // status.
  void set_before_message(std::function<grpc::Status(size_t index)> hook) {
    before_message_ = std::move(hook);
  }

  // A timeline then goes on with its last message until the reader has gone.
  void set_endless() { endless_ = true; }
  // Called when a timeline's handler has counted how it ended.
  void set_after_stream(std::function<void()> hook) { after_stream_ = std::move(hook); }

  const std::string& address() const { return address_; }
  std::shared_ptr<grpc::Channel> channel() const;
  // Streams that ended because the reader went away.
  int cancelled_streams() const { return cancelled_; }
  size_t messages_sent() const { return sent_; }
  query::v1::StreamTimelineRequest last_request() const;
  // Refuses what comes, ends what runs.
  void Stop();

 private:
  class Follower;
  struct Served {
    trace::v1::SessionSummary summary;
    std::vector<query::v1::StreamTimelineResponse> messages;
  };

  std::vector<std::shared_ptr<const Served>> sessions() const;
  grpc::Status ListSessions(grpc::ServerContext* context,
                            const query::v1::ListSessionsRequest* request,
                            query::v1::ListSessionsResponse* response) override;
  grpc::Status GetDensity(grpc::ServerContext* context, const query::v1::GetDensityRequest* request,
                          query::v1::GetDensityResponse* response) override;
  grpc::Status WriteTimeline(const Served& served, grpc::ServerContext& context,
                             grpc::ServerWriter<query::v1::StreamTimelineResponse>& writer);
  grpc::Status StreamTimeline(
      grpc::ServerContext* context, const query::v1::StreamTimelineRequest* request,
      grpc::ServerWriter<query::v1::StreamTimelineResponse>* writer) override;
  grpc::ServerWriteReactor<query::v1::FollowResponse>* Follow(
      grpc::CallbackServerContext* context, const query::v1::FollowRequest* request) override;

  std::function<grpc::Status(size_t)> before_message_ = [](size_t) { return grpc::Status::OK; };
  std::function<void()> after_stream_ = [] {};
  std::function<grpc::Status(size_t)> before_step_ = [](size_t) { return grpc::Status::OK; };
  std::function<void()> after_follow_ = [] {};
  std::function<grpc::Status()> before_list_ = [] { return grpc::Status::OK; };
  std::function<query::v1::GetDensityResponse(const query::v1::GetDensityRequest&)> density_ =
      [](const query::v1::GetDensityRequest&) { return query::v1::GetDensityResponse(); };
  std::atomic<size_t> listings_ = 0;
  bool endless_ = false;
  std::atomic<int> cancelled_ = 0;
  std::atomic<size_t> sent_ = 0;
  mutable base::Mutex mutex_;
  // Shared with the streams that send them.
  std::vector<std::shared_ptr<const Served>> sessions_ ABSL_GUARDED_BY(mutex_);
  query::v1::StreamTimelineRequest last_request_ ABSL_GUARDED_BY(mutex_);
  std::vector<query::v1::FollowResponse> steps_;  // fixed before anybody follows
  size_t happened_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<std::shared_ptr<Follower>> followers_ ABSL_GUARDED_BY(mutex_);
  size_t follows_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_cursor_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace nanolane::desktop
