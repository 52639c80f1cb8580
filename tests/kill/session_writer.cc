#include "tests/kill/session_writer.h"

#include <algorithm>
#include <thread>

#include "absl/strings/str_format.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"

namespace nanolane::testing {

namespace store_v1 = nanolane::store::v1;

void CurrentSession::Set(const SessionModel& session) {
  base::MutexLock lock(mutex_);
  place_ = {.id = session.id(), .generation = session.generation()};
  changed_.NotifyAll();
}

void CurrentSession::Close() {
  base::MutexLock lock(mutex_);
  closed_ = true;
  changed_.NotifyAll();
}

void CurrentSession::Open() {
  base::MutexLock lock(mutex_);
  closed_ = false;
}

bool CurrentSession::Is(uint64_t generation) {
  base::MutexLock lock(mutex_);
  return place_.generation == generation;
}

bool CurrentSession::WaitBeyond(uint64_t generation, Place& place) {
  base::MutexLock lock(mutex_);
  changed_.Wait(mutex_, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return closed_ || place_.generation > generation;
  });
  place = place_;
  return !closed_;
}

// One append stream. Requests are small and few are on the way, so that one thread can write and
// read by turns.
class KillWriter::Stream {
 public:
  explicit Stream(store_v1::StoreService::Stub& store) {
    rpc::SetDeadline(context_, std::chrono::seconds(60));
    stream_ = store.Append(&context_);
  }
  ~Stream() {
    if (finished_) return;
    context_.TryCancel();
    Finish().IgnoreError();
  }

  bool Write(const store_v1::AppendRequest& request) { return stream_->Write(request); }
  bool Read(uint64_t& acknowledged) {
    store_v1::AppendResponse response;
    if (!stream_->Read(&response)) return false;
    acknowledged = response.acknowledged_sequence();
    return true;
  }
  // What is left to be read is read, so that the status can come.
  absl::Status Finish() {
    finished_ = true;
    stream_->WritesDone();
    store_v1::AppendResponse response;
    while (stream_->Read(&response)) {
    }
    return rpc::FromGrpc(stream_->Finish());
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<store_v1::AppendRequest, store_v1::AppendResponse>>
      stream_;
  bool finished_ = false;
};

KillWriter::KillWriter(int number, uint64_t seed) : number_(number), random_(seed) {
  NewSession(NewId());
}

KillWriter::~KillWriter() = default;

std::string KillWriter::NewId() {
  return absl::StrFormat("%08x%024x", static_cast<unsigned>(number_ + 1),
                         static_cast<unsigned long long>(generation_ + 1));
}

void KillWriter::NewSession(std::string id) {
  deleted_.erase(id);
  session_ = std::make_unique<SessionModel>(std::move(id), ++generation_);
}

bool KillWriter::Failed(const Killer& killer, const absl::Status& status, const char* doing) {
  stream_ = nullptr;
  broken_ = true;
  const bool gone = killer.fired() && absl::IsUnavailable(status);
  if (!gone) {
    problems_.push_back(base::StrCat("writer ", number_, ", session ", session_->id(), ": ", doing,
                                     ": ", status.ToString()));
  }
  return false;
}

void KillWriter::Run(KillStubs& stubs, Killer& killer, int steps) {
  broken_ = false;
  if (session_->deleting) Delete(stubs, killer);
  if (session_->confirmed) current_.Set(*session_);
  for (int i = 0; i < steps && !broken_ && problems_.empty(); ++i) Step(stubs, killer);
  if (broken_) return;
  if (OneIn(random_, 2)) {
    CloseStream(killer);
  } else {
    CancelStream();
  }
}

void KillWriter::Step(KillStubs& stubs, Killer& killer) {
  const int64_t what = Pick(random_, 1, 100);
  if (what <= 72) {
    if (!SendNew(stubs, killer, Pick(random_, 1, 6), /*end=*/false)) return;
    // All are waited for, or some are left on the way.
    const uint64_t last = session_->epoch().appends.size();
    Await(killer, last - std::min<uint64_t>(last, OneIn(random_, 2) ? 0 : 4));
  } else if (what <= 82) {
    if (SendNew(stubs, killer, 1, /*end=*/true)) Await(killer, session_->epoch().appends.size());
  } else if (what <= 86) {
    CancelStream();  // what was on the way is sent again
  } else if (what <= 92) {
    if (OneIn(random_, 2)) {
      CancelStream();
    } else if (!CloseStream(killer)) {
      return;
    }
    session_->StartEpoch(random_);
  } else if (what <= 95) {
    if (!SendNew(stubs, killer, 1, /*end=*/true) || !CloseStream(killer)) return;
    if (!session_->AllAcknowledged()) return;
    session_->closed = true;
    kept_.push_back(std::move(session_));
    NewSession(NewId());
  } else if (session_->confirmed && !session_->stragglers && CloseStream(killer)) {
    Delete(stubs, killer);
  }
}

bool KillWriter::Connect(KillStubs& stubs, Killer& killer) {
  if (stream_ != nullptr) return true;
  stream_ = std::make_unique<Stream>(*stubs.store);
  session_->touched = true;
  SentEpoch& epoch = session_->epoch();
  store_v1::AppendRequest first;
  *first.mutable_session() = session_->Describe();
  first.set_epoch(epoch.number);
  uint64_t next = epoch.acknowledged + 1;
  // A writer asks what is there, or sends again what it is not sure of, and a little more.
  const bool asks = epoch.appends.size() < next || OneIn(random_, 2);
  if (!asks) {
    next -= std::min<uint64_t>(epoch.acknowledged, random_() % 4);
    store_v1::AppendRequest again = epoch.appends[next - 1].request;
    *again.mutable_session() = first.session();
    again.set_epoch(first.epoch());
    first = std::move(again);
    ++next;
  }
  if (!stream_->Write(first)) return Failed(killer, stream_->Finish(), "connecting");
  if (asks) {
    if (!Await(killer, 0)) return false;
    next = epoch.acknowledged + 1;
  }
  for (; next <= epoch.appends.size(); ++next) {
    if (!stream_->Write(epoch.appends[next - 1].request)) {
      return Failed(killer, stream_->Finish(), "sending again");
    }
    killer.Saw(KillAt::kSend);
  }
  return true;
}

bool KillWriter::SendNew(KillStubs& stubs, Killer& killer, int64_t appends, bool end) {
  if (!Connect(stubs, killer)) return false;
  for (; appends > 0; --appends) {
    const SentAppend& made = end ? session_->MakeEnd() : session_->MakeAppend(random_);
    if (!stream_->Write(made.request)) return Failed(killer, stream_->Finish(), "appending");
    killer.Saw(KillAt::kSend);
    if (end) killer.Saw(KillAt::kEnd);
  }
  return true;
}

bool KillWriter::Await(Killer& killer, uint64_t sequence) {
  SentEpoch& epoch = session_->epoch();
  bool first = true;
  while (stream_ != nullptr && (epoch.acknowledged < sequence || (sequence == 0 && first))) {
    uint64_t acknowledged = 0;
    if (!stream_->Read(acknowledged)) return Failed(killer, stream_->Finish(), "acknowledging");
    if (acknowledged > epoch.appends.size() ||
        (sequence == 0 && acknowledged < epoch.acknowledged)) {
      return Failed(killer,
                    absl::DataLossError(base::StrCat(acknowledged, " is acknowledged of ",
                                                     epoch.appends.size(), " sent, ",
                                                     epoch.acknowledged, " before")),
                    "acknowledging");
    }
    const bool news = acknowledged > epoch.acknowledged;
    epoch.acknowledged = std::max(epoch.acknowledged, acknowledged);
    if (!session_->confirmed) current_.Set(*session_);
    session_->confirmed = true;
    if (news) killer.Saw(KillAt::kAcknowledgement);
    first = false;
  }
  return stream_ != nullptr;
}

bool KillWriter::CloseStream(Killer& killer) {
  if (stream_ == nullptr) return session_->AllAcknowledged();
  if (!Await(killer, session_->epoch().appends.size())) return false;
  const absl::Status status = stream_->Finish();
  if (!status.ok()) return Failed(killer, status, "closing");
  stream_ = nullptr;
  return true;
}

void KillWriter::CancelStream() {
  if (stream_ == nullptr) return;
  session_->stragglers = true;
  stream_ = nullptr;
}

void KillWriter::Delete(KillStubs& stubs, Killer& killer) {
  session_->deleting = true;
  query::v1::DeleteSessionRequest request;
  request.set_session_id(session_->id());
  query::v1::DeleteSessionResponse response;
  grpc::ClientContext context;
  rpc::SetDeadline(context, std::chrono::seconds(60));
  // The call and the kill race.
  std::thread other([&] { killer.Saw(KillAt::kDeletion); });
  const absl::Status status =
      rpc::FromGrpc(stubs.query->DeleteSession(&context, request, &response));
  other.join();
  if (!status.ok()) {
    Failed(killer, status, "deleting");
    return;
  }
  ++deletions_;
  deleted_.insert(session_->id());
  NewSession(OneIn(random_, 2) ? session_->id() : NewId());
}

void KillWriter::Finish(KillStubs& stubs, Killer& killer) {
  broken_ = false;
  if (session_->deleting) Delete(stubs, killer);
  if (broken_ || !SendNew(stubs, killer, 1, /*end=*/true)) return;
  session_->closed = CloseStream(killer);
}

}  // namespace nanolane::testing
