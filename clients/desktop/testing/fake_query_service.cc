#include "clients/desktop/testing/fake_query_service.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "libs/rpc/channel.h"

namespace nanolane::desktop {

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
  auto served =
      std::make_shared<const Served>(Served{session.Summary(), session.Messages(block_events)});
  base::MutexLock lock(mutex_);
  sessions_.push_back(std::move(served));
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
  for (const auto& served : sessions()) {
    if (response->sessions_size() < request->page_size())
      *response->add_sessions() = served->summary;
  }
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
