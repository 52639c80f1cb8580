#include "services/store/follow_hub.h"

#include <utility>

#include "libs/base/str_cat.h"
#include "libs/rpc/handlers.h"

namespace nanolane::store {

// One follower. At any time it does at most one of three things: waits for a worker or is run by
// one (`reading_`), writes a message (`writing_`), or rests until it is woken.
class FollowStream final : public grpc::ServerWriteReactor<v1::FollowResponse> {
 public:
  FollowStream(FollowHub& hub, Store& store, v1::FollowRequest request)
      : hub_(hub), store_(store), request_(std::move(request)) {}

  void Start() {
    absl::Status status = CheckSessionId(request_.session_id());
    if (status.ok()) {
      joined_ = hub_.Join(request_.session_id(), *this);
      if (!joined_) status = rpc::TooBusy();
    }
    if (!status.ok()) {
      {
        base::MutexLock lock(mutex_);
        finished_ = true;
      }
      Finish(rpc::ToGrpc(status));
      return;
    }
    Wake();
  }

  void Wake() {
    {
      base::MutexLock lock(mutex_);
      woken_ = true;
      if (reading_ || writing_ || finished_) return;
      reading_ = true;
    }
    Submit();
  }

  void OnWriteDone(bool ok) override {
    {
      base::MutexLock lock(mutex_);
      writing_ = false;
      cancelled_ = cancelled_ || !ok;
      reading_ = true;
    }
    Submit();
  }

  void OnCancel() override {
    {
      base::MutexLock lock(mutex_);
      cancelled_ = true;
      if (reading_ || writing_ || finished_) return;
      finished_ = true;
    }
    Finish(grpc::Status::CANCELLED);
  }

  void OnDone() override {
    if (joined_) hub_.Leave(request_.session_id(), *this);
    delete this;
  }

 private:
  void Submit() {
    // There is room for a task of every follower.
    if (!hub_.readers_.TrySubmit([this] { Read(); })) End(rpc::TooBusy());
  }

  void Read() {
    while (true) {
      {
        base::MutexLock lock(mutex_);
        if (cancelled_) break;
        woken_ = false;
      }
      const absl::StatusOr<bool> more = Next();
      if (!more.ok()) return End(more.status());
      {
        base::MutexLock lock(mutex_);
        if (!*more && (woken_ || cancelled_)) continue;
        reading_ = false;
        writing_ = *more;
      }
      // Outside the lock: a write may be done before this returns.
      if (*more) StartWrite(&message_);
      return;
    }
    End(absl::CancelledError("the follower has gone"));
  }

  absl::StatusOr<bool> Next() {
    if (reader_ == nullptr) {
      auto reader = store_.Follow(request_);
      if (!reader.ok()) return reader.status();
      reader_ = *std::move(reader);
    }
    return reader_->Next(message_);
  }

  void End(const absl::Status& status) {
    {
      base::MutexLock lock(mutex_);
      reading_ = false;
      finished_ = true;
    }
    Finish(rpc::ToGrpc(status));
  }

  FollowHub& hub_;
  Store& store_;
  const v1::FollowRequest request_;
  bool joined_ = false;
  std::unique_ptr<FollowReader> reader_;  // the reading worker's alone
  v1::FollowResponse message_;            // the reader's, then gRPC's
  base::Mutex mutex_;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

FollowHub::FollowHub(Store& store, Committer& committer)
    : store_(store),
      committer_(committer),
      readers_(kReaders, kMostFollowers),
      thread_([this] { Run(); }) {
  committer_.AddObserver(*this);
}

FollowHub::~FollowHub() {
  committer_.RemoveObserver(*this);
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

grpc::ServerWriteReactor<v1::FollowResponse>* FollowHub::Follow(const v1::FollowRequest& request) {
  auto* stream = new FollowStream(*this, store_, request);
  stream->Start();
  return stream;
}

bool FollowHub::Join(const std::string& session_id, FollowStream& stream) {
  base::MutexLock lock(mutex_);
  if (follower_count_ >= kMostFollowers) return false;
  ++follower_count_;
  followers_[session_id].insert(&stream);
  return true;
}

void FollowHub::Leave(const std::string& session_id, FollowStream& stream) {
  base::MutexLock lock(mutex_);
  const auto found = followers_.find(session_id);
  found->second.erase(&stream);
  if (found->second.empty()) followers_.erase(found);
  --follower_count_;
}

void FollowHub::OnCommitted(const std::string& session_id) {
  {
    base::MutexLock lock(mutex_);
    if (!followers_.contains(session_id)) return;
    dirty_.insert(session_id);
  }
  changed_.NotifyOne();
}

void FollowHub::Run() {
  while (true) {
    base::MutexLock lock(mutex_);
    changed_.Wait(mutex_,
                  [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return stopping_ || !dirty_.empty(); });
    if (stopping_) return;
    const std::set<std::string> dirty = std::exchange(dirty_, {});
    for (const std::string& session : dirty) {
      const auto found = followers_.find(session);
      if (found == followers_.end()) continue;
      // Under the lock, so that none of them leaves meanwhile; waking takes a stream's own lock and
      // the pool's, neither of which is held when this one is taken.
      for (FollowStream* stream : found->second) stream->Wake();
    }
  }
}

}  // namespace nanolane::store
