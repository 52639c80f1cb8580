#include "tests/live_kill/capture_watch.h"

#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"

namespace nanolane::testing {

CaptureWatch::CaptureWatch(const LiveNode& node, collector::v1::StartCaptureRequest request)
    : node_(node), request_(std::move(request)) {
  thread_ = std::thread([this] { Run(); });
}

void CaptureWatch::Stop() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    if (context_ != nullptr) context_->TryCancel();
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

absl::Status CaptureWatch::AwaitStarted() {
  base::MutexLock lock(mutex_);
  changed_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return decided_; });
  return started_;
}

void CaptureWatch::CollectorGoes() {
  base::MutexLock lock(mutex_);
  ++life_;
  safe_before_ += safe_now_;
  safe_now_ = 0;
}

void CaptureWatch::CollectorIsBack() {
  base::MutexLock lock(mutex_);
  ++life_;
  changed_.NotifyAll();
}

std::string CaptureWatch::session_id() const {
  base::MutexLock lock(mutex_);
  return session_id_;
}

uint64_t CaptureWatch::safe_events() const {
  base::MutexLock lock(mutex_);
  return safe_before_ + safe_now_;
}

void CaptureWatch::Run() {
  {
    grpc::ClientContext context;
    rpc::SetDeadline(context, kPatience);
    collector::v1::StartCaptureResponse response;
    const absl::Status status =
        rpc::FromGrpc(node_.CollectorStub()->StartCapture(&context, request_, &response));
    base::MutexLock lock(mutex_);
    started_ = status;
    session_id_ = response.session_id();
    decided_ = true;
    changed_.NotifyAll();
    if (!status.ok()) return;
  }
  uint64_t seen_life = 0;
  for (;;) {
    grpc::ClientContext* context = nullptr;
    {
      base::MutexLock lock(mutex_);
      changed_.Wait(mutex_, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return stopping_ || (life_ % 2 == 1 && life_ != seen_life);
      });
      if (stopping_) return;
      seen_life = life_;
      context_ = std::make_unique<grpc::ClientContext>();
      context = context_.get();
    }
    Watch(*context);
  }
}

// Until the capture is over, or its collector.
void CaptureWatch::Watch(grpc::ClientContext& context) {
  rpc::SetDeadline(context, 2 * kPatience);
  collector::v1::WatchCaptureRequest request;
  request.set_session_id(session_id());
  request.mutable_interval()->set_nanos(50'000'000);
  const auto stub = node_.CollectorStub();
  const auto stream = stub->WatchCapture(&context, request);
  uint64_t life = 0;
  {
    base::MutexLock lock(mutex_);
    life = life_;
  }
  collector::v1::WatchCaptureResponse response;
  while (stream->Read(&response)) {
    base::MutexLock lock(mutex_);
    // Read after the kill, from the socket: it was said all the same.
    if (life_ == life) {
      safe_now_ = response.status().safe_events();
    } else if (life_ == life + 1) {
      break;
    }
  }
  stream->Finish();
}

}  // namespace nanolane::testing
