#include "services/store/append_stream.h"

#include <utility>

#include "libs/base/str_cat.h"
#include "libs/rpc/status.h"

namespace nanolane::store {
namespace {

// Below the largest message: whoever follows the session gets an append whole, with what is known
// of its lanes beside it.
constexpr size_t kMaxAppendBytes = 8 << 20;

}  // namespace

AppendStream::AppendStream(Committer& committer) : committer_(committer) {
  Step([] {});
}

template <typename Change>
void AppendStream::Step(Change change) {
  bool finish = false;
  absl::Status status;
  {
    base::MutexLock lock(mutex_);
    change();
    finish = Advance();
    status = status_;
  }
  // Outside the lock: once finished, gRPC deletes this object on a thread of its own.
  if (finish) Finish(rpc::ToGrpc(status));
}

absl::Status AppendStream::CheckRequest() {
  if (request_->ByteSizeLong() > kMaxAppendBytes) {
    return absl::InvalidArgumentError(
        base::StrCat("an append of ", request_->ByteSizeLong(), " bytes is over ", kMaxAppendBytes,
                     "; send its blocks and dictionary entries in several"));
  }
  if (session_id_.empty()) {
    if (!request_->has_session()) {
      return absl::InvalidArgumentError("the first message must name the session");
    }
    if (absl::Status checked = CheckSessionId(request_->session().session_id()); !checked.ok()) {
      return checked;
    }
    session_id_ = request_->session().session_id();
    epoch_ = request_->epoch();
    return absl::OkStatus();
  }
  if (request_->has_session() && request_->session().session_id() != session_id_) {
    return absl::InvalidArgumentError("a stream writes to one session: open another for another");
  }
  return absl::OkStatus();
}

void AppendStream::OnReadDone(bool ok) {
  Step([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    reading_ = false;
    if (!ok) {
      reads_ended_ = true;
    } else if (status_.ok()) {
      status_ = CheckRequest();
      if (status_.ok()) SubmitRequest();
    }
  });
}

void AppendStream::SubmitRequest() {
  ++outstanding_;
  committer_.Submit(
      session_id_, epoch_, std::move(request_),
      [this](const absl::Status& status, uint64_t sequence) { OnCommitted(status, sequence); });
}

void AppendStream::OnCommitted(const absl::Status& status, uint64_t sequence) {
  Step([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    --outstanding_;
    if (status.ok() && status_.ok()) {
      // The first one is answered even without data: it says what the store had before.
      acknowledge_ = true;
      acknowledged_ = sequence;
    }
    status_.Update(status);
  });
}

void AppendStream::OnRoom() {
  Step([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { waits_for_room_ = false; });
}

void AppendStream::OnWriteDone(bool ok) {
  Step([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    writing_ = false;
    if (!ok) status_.Update(absl::CancelledError("the writer has gone"));
  });
}

bool AppendStream::Advance() {
  if (finished_) return false;
  if (acknowledge_ && !writing_) {
    acknowledge_ = false;
    writing_ = true;
    response_.set_acknowledged_sequence(acknowledged_);
    StartWrite(&response_);
  }
  const bool ending = reads_ended_ || !status_.ok();
  if (!ending && !reading_ && !waits_for_room_ && outstanding_ < kMaxOutstanding) {
    const bool room = committer_.AskForRoom([this] { OnRoom(); });
    if (room) {
      reading_ = true;
      request_ = std::make_unique<v1::AppendRequest>();
      StartRead(request_.get());
    } else {
      waits_for_room_ = true;
    }
  }
  // Nothing may call back any more: gRPC deletes this object soon after.
  finished_ = ending && outstanding_ == 0 && !writing_ && !acknowledge_ && !waits_for_room_;
  return finished_;
}

}  // namespace nanolane::store
