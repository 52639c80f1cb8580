#include "tests/support/fake_collector.h"

#include <utility>

namespace nanolane::testing {

namespace collector_v1 = nanolane::collector::v1;

FakeCollector::FakeCollector(CollectorScript script) : script_(std::move(script)) {
  server_ = *rpc::Server::Start({.listen = "127.0.0.1:0", .services = {this}});
}

FakeCollector::~FakeCollector() {
  {
    base::MutexLock lock(mutex_);
    closing_ = true;
    changed_.NotifyAll();
  }
  server_ = nullptr;
}

void FakeCollector::WaitUntilWatched() {
  base::MutexLock lock(mutex_);
  changed_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return watched_; });
}

void FakeCollector::WaitUntilEndAsked() {
  base::MutexLock lock(mutex_);
  changed_.Wait(mutex_,
                [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !ended_sessions_.empty(); });
}

std::vector<collector_v1::StartCaptureRequest> FakeCollector::starts() const {
  base::MutexLock lock(mutex_);
  return starts_;
}

std::vector<std::string> FakeCollector::ended_sessions() const {
  base::MutexLock lock(mutex_);
  return ended_sessions_;
}

grpc::Status FakeCollector::ListProcesses(grpc::ServerContext* /*context*/,
                                          const collector_v1::ListProcessesRequest* /*request*/,
                                          collector_v1::ListProcessesResponse* response) {
  for (const collector_v1::Process& process : script_.processes) {
    *response->add_processes() = process;
  }
  return grpc::Status::OK;
}

grpc::Status FakeCollector::StartCapture(grpc::ServerContext* /*context*/,
                                         const collector_v1::StartCaptureRequest* request,
                                         collector_v1::StartCaptureResponse* response) {
  base::MutexLock lock(mutex_);
  starts_.push_back(*request);
  *response = script_.started;
  return script_.start_status;
}

grpc::Status FakeCollector::EndCapture(grpc::ServerContext* /*context*/,
                                       const collector_v1::EndCaptureRequest* request,
                                       collector_v1::EndCaptureResponse* /*response*/) {
  base::MutexLock lock(mutex_);
  ended_sessions_.push_back(request->session_id());
  changed_.NotifyAll();
  if (script_.end_hangs) {
    changed_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return closing_; });
  }
  return grpc::Status::OK;
}

grpc::Status FakeCollector::WatchCapture(
    grpc::ServerContext* /*context*/, const collector_v1::WatchCaptureRequest* request,
    grpc::ServerWriter<collector_v1::WatchCaptureResponse>* writer) {
  if (request->session_id() != script_.started.session_id()) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "no such capture");
  }
  collector_v1::WatchCaptureResponse response;
  for (const collector_v1::CaptureStatus& step : script_.steps) {
    *response.mutable_status() = step;
    writer->Write(response);
  }
  {
    base::MutexLock lock(mutex_);
    watched_ = true;
    changed_.NotifyAll();
    if (script_.waits_for_end) {
      changed_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return closing_ || (!ended_sessions_.empty() && !script_.end_hangs);
      });
    }
  }
  *response.mutable_status() = script_.last;
  writer->Write(response);
  return grpc::Status::OK;
}

}  // namespace nanolane::testing
