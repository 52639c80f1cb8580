#include "services/collector/delivery/append_call.h"

#include <algorithm>
#include <utility>

#include "libs/rpc/status.h"

namespace nanolane::collector {

AppendCall::AppendCall(nanolane::store::v1::StoreService::StubInterface& store,
                       std::function<void()> changed)
    : changed_(std::move(changed)) {
  store.async()->Append(&context_, this);
  // Writes are started outside gRPC's callbacks, so the call must not be done before Close().
  AddHold();
  StartRead(&response_);
  StartCall();
}

AppendCall::~AppendCall() {
  context_.TryCancel();
  Close();
  base::MutexLock lock(mutex_);
  let_go_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return done_; });
}

bool AppendCall::CanWrite() const {
  base::MutexLock lock(mutex_);
  return held_ && !writing_ && !broken_;
}

void AppendCall::Write(nanolane::store::v1::AppendRequest request) {
  request_ = std::move(request);
  {
    base::MutexLock lock(mutex_);
    writing_ = true;
  }
  // Outside the lock: gRPC may call back at once.
  StartWrite(&request_);
}

std::optional<uint64_t> AppendCall::acknowledged() const {
  base::MutexLock lock(mutex_);
  return acknowledged_;
}

bool AppendCall::broken() const {
  base::MutexLock lock(mutex_);
  return broken_;
}

void AppendCall::Close() {
  if (std::exchange(held_, false)) RemoveHold();
}

std::optional<absl::Status> AppendCall::ended() const {
  base::MutexLock lock(mutex_);
  return ended_;
}

void AppendCall::OnReadDone(bool ok) {
  {
    base::MutexLock lock(mutex_);
    if (ok) {
      acknowledged_ = std::max(acknowledged_.value_or(0), response_.acknowledged_sequence());
    } else {
      broken_ = true;
    }
  }
  changed_();
  if (ok) StartRead(&response_);
}

void AppendCall::OnWriteDone(bool ok) {
  {
    base::MutexLock lock(mutex_);
    writing_ = false;
    broken_ = broken_ || !ok;
  }
  changed_();
}

void AppendCall::OnDone(const grpc::Status& status) {
  {
    base::MutexLock lock(mutex_);
    ended_ = rpc::FromGrpc(status);
  }
  changed_();
  base::MutexLock lock(mutex_);
  done_ = true;
  // Under the lock: the owner may destroy this object as soon as it has it.
  let_go_.NotifyAll();
}

}  // namespace nanolane::collector
