#include "clients/desktop/testing/fake_query_service.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "libs/rpc/channel.h"

namespace nanolane::desktop {

// Writes the steps from `next_` on, one at a time; rests where none has happened yet. Its state is
// the service's lock's. Shared, because it may be gone when somebody lets it go on.
class FakeQueryService::Follower final : public grpc::ServerWriteReactor<query::v1::FollowResponse>,
                                         public std::enable_shared_from_this<Follower> {
 public:
  Follower(FakeQueryService& service, size_t next) : service_(service), next_(next) {}

  void Begin() {
    {
      base::MutexLock lock(service_.mutex_);
      service_.followers_.insert(shared_from_this());
    }
    GoOn();
  }

  // Writes the next step if it has happened and nothing is on its way.
  void GoOn() {
    bool finish = false;
    {
      base::MutexLock lock(service_.mutex_);
      if (busy_ || finished_ || (!cancelled_ && next_ >= service_.happened_)) return;
      busy_ = true;
      finish = finished_ = cancelled_;
    }
    if (finish) return Finish(grpc::Status::CANCELLED);
    const grpc::Status status = service_.before_step_(next_);
    if (status.ok()) return StartWrite(&service_.steps_[next_]);
    {
      base::MutexLock lock(service_.mutex_);
      finished_ = true;
    }
    Finish(status);
  }

  void OnWriteDone(bool ok) override {
    {
      base::MutexLock lock(service_.mutex_);
      busy_ = false;
      ++next_;
      cancelled_ = cancelled_ || !ok;
    }
    GoOn();
  }
  void OnCancel() override {
    {
      base::MutexLock lock(service_.mutex_);
      cancelled_ = true;
    }
    GoOn();
  }
  void OnDone() override {
    service_.after_follow_();
    const std::shared_ptr<Follower> self = shared_from_this();
    base::MutexLock lock(service_.mutex_);
    service_.followers_.erase(self);
  }

 private:
  FakeQueryService& service_;
  size_t next_;
  bool busy_ = false;
  bool cancelled_ = false;
  bool finished_ = false;
};

FakeQueryService::FakeQueryService() {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  address_ = absl::StrCat("127.0.0.1:", port);
}

FakeQueryService::~FakeQueryService() { Stop(); }

void FakeQueryService::Stop() { server_->Shutdown(std::chrono::system_clock::now()); }

void FakeQueryService::Serve(const SessionBuilder& session, size_t block_events) {
  Serve(session.Summary(), session.Messages(block_events));
}

void FakeQueryService::Serve(trace::v1::SessionSummary summary,
                             std::vector<query::v1::StreamTimelineResponse> messages) {
  auto served = std::make_shared<const Served>(Served{std::move(summary), std::move(messages)});
  base::MutexLock lock(mutex_);
  sessions_.push_back(std::move(served));
}

void FakeQueryService::Record(trace::v1::SessionSummary summary,
                              std::vector<query::v1::FollowResponse> steps, size_t happened) {
  steps_ = std::move(steps);
  Serve(std::move(summary), {});
  Happen(happened);
}

void FakeQueryService::Happen(size_t count) {
  std::vector<std::shared_ptr<Follower>> followers;
  {
    base::MutexLock lock(mutex_);
    happened_ = std::min(happened_ + count, steps_.size());
    followers.assign(followers_.begin(), followers_.end());
  }
  for (const auto& follower : followers) follower->GoOn();
}

size_t FakeQueryService::follows() const {
  base::MutexLock lock(mutex_);
  return follows_;
}

uint64_t FakeQueryService::last_cursor() const {
  base::MutexLock lock(mutex_);
  return last_cursor_;
}

grpc::ServerWriteReactor<query::v1::FollowResponse>* FakeQueryService::Follow(
    grpc::CallbackServerContext* /*context*/, const query::v1::FollowRequest* request) {
  size_t next = 0;
  while (request->cursor() > 0 && steps_[next++].cursor() != request->cursor()) {
  }
  {
    base::MutexLock lock(mutex_);
    ++follows_;
    last_cursor_ = request->cursor();
  }
  const auto follower = std::make_shared<Follower>(*this, next);
  follower->Begin();
  return follower.get();
}

std::vector<std::shared_ptr<const FakeQueryService::Served>> FakeQueryService::sessions() const {
  base::MutexLock lock(mutex_);
  return sessions_;
}

std::shared_ptr<grpc::Channel> FakeQueryService::channel() const {
  return rpc::OpenChannel(address_);
}

query::v1::StreamTimelineRequest FakeQueryService::last_request() const {
  base::MutexLock lock(mutex_);
  return last_request_;
}

grpc::Status FakeQueryService::ListSessions(grpc::ServerContext* /*context*/,
                                            const query::v1::ListSessionsRequest* request,
                                            query::v1::ListSessionsResponse* response) {
  ++listings_;
  grpc::Status status = before_list_();
  if (!status.ok()) return status;
  // Pages are told apart by the position where they begin.
  const auto served = sessions();
  size_t at = request->page_token().empty() ? 0 : std::stoul(request->page_token());
  for (; at < served.size() && response->sessions_size() < request->page_size(); ++at) {
    *response->add_sessions() = served[at]->summary;
  }
  if (at < served.size()) response->set_next_page_token(absl::StrCat(at));
  return grpc::Status::OK;
}

grpc::Status FakeQueryService::GetDensity(grpc::ServerContext* /*context*/,
                                          const query::v1::GetDensityRequest* request,
                                          query::v1::GetDensityResponse* response) {
  *response = density_(*request);
  return grpc::Status::OK;
}

grpc::Status FakeQueryService::WriteTimeline(
    const Served& served, grpc::ServerContext& context,
    grpc::ServerWriter<query::v1::StreamTimelineResponse>& writer) {
  const size_t count = served.messages.size();
  for (size_t i = 0; endless_ || i < count; ++i) {
    grpc::Status status = before_message_(i);
    if (!status.ok()) return status;
    if (context.IsCancelled() || !writer.Write(served.messages[std::min(i, count - 1)])) {
      ++cancelled_;
      return grpc::Status::CANCELLED;
    }
    ++sent_;
  }
  return grpc::Status::OK;
}

grpc::Status FakeQueryService::StreamTimeline(
    grpc::ServerContext* context, const query::v1::StreamTimelineRequest* request,
    grpc::ServerWriter<query::v1::StreamTimelineResponse>* writer) {
  {
    base::MutexLock lock(mutex_);
    last_request_ = *request;
  }
  for (const auto& served : sessions()) {
    if (served->summary.session().session_id() != request->scope().session_ids(0)) continue;
    grpc::Status status = WriteTimeline(*served, *context, *writer);
    after_stream_();
    return status;
  }
  return {grpc::StatusCode::NOT_FOUND, "no such session"};
}

}  // namespace nanolane::desktop
