// What a delivery's own thread does: it alone touches the stream and the spool's files, and it
// waits for nothing but its condition variable.
#include <algorithm>

#include "libs/base/log.h"
#include "libs/base/str_cat.h"
#include "services/collector/delivery/delivery.h"

namespace nanolane::collector {
namespace {

constexpr char kLog[] = "delivery";
constexpr std::chrono::hours kIdle(1);
// One sync carries at most this much, so that acknowledgements are not kept waiting.
constexpr size_t kSpillBytes = 8 << 20;
constexpr int kMostStallFactor = 32;

bool IsRefusal(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status);
}

}  // namespace

void Delivery::Run() {
  while (true) {
    {
      base::MutexLock lock(mutex_);
      wake_.WaitFor(mutex_, NextDeadline() - Clock::now(),
                    [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return poked_ || stopping_; });
      if (stopping_) break;
      poked_ = false;
      if (!failure_.ok()) continue;
    }
    Step();
  }
  ShutDown();
}

// Each deadline that has passed is moved by the step that follows.
Delivery::Clock::time_point Delivery::NextDeadline() const {
  Clock::time_point deadline = Clock::now() + kIdle;
  if (!failure_.ok() || acknowledged_ == pushed_) return deadline;
  if (call_ == nullptr) deadline = std::min(deadline, retry_at_);
  if (call_ != nullptr) {
    deadline = std::min(deadline, std::max(progress_at_, opened_at_) + stalled_after_);
  }
  if (!memory_.empty()) {
    deadline = std::min(deadline, spooling_ ? spill_at_ : progress_at_ + options_.spool_after);
  }
  return deadline;
}

void Delivery::Step() {
  TakeAcknowledgements();
  CheckStream();
  SpillIfNeeded();
  OpenStream();
  SendSome();
  LeaveSpool();
}

void Delivery::TakeAcknowledgements() {
  if (call_ == nullptr) return;
  if (const auto sequence = call_->acknowledged()) Acknowledge(*sequence);
}

void Delivery::Acknowledge(uint64_t sequence) {
  uint64_t pushed = 0;
  {
    base::MutexLock lock(mutex_);
    pushed = pushed_;
    if (sequence <= acknowledged_) return;
  }
  if (sequence > pushed && !resumed_) {
    Refuse(absl::FailedPreconditionError(
        base::StrCat("the store has ", sequence, " requests of epoch ", chain_->epoch(), ", but ",
                     pushed, " were made: somebody else writes it")));
    return;
  }
  // A former collector may have sent more than it spooled.
  sequence = std::min(sequence, pushed);
  // The store had these; they are taken all the same, for what they say of the session.
  while (next_ <= sequence) {
    if (!TakeNext()) return;
  }
  while (!sent_sessions_.empty() && sent_sessions_.front().first <= sequence) {
    acknowledged_session_ = std::move(sent_sessions_.front().second);
    sent_sessions_.pop_front();
  }
  chain_->ReleaseThrough(sequence);
  retry_ = options_.retry_least;
  stalled_after_ = options_.stalled_after;
  base::MutexLock lock(mutex_);
  acknowledged_ = sequence;
  while (!memory_.empty() && memory_.front().sequence() <= sequence) {
    if (memory_.front().has_session()) spooled_session_ = memory_.front().session();
    memory_bytes_ -= memory_.front().ByteSizeLong();
    memory_.pop_front();
  }
  spooled_bytes_ = chain_->bytes();
  progress_at_ = Clock::now();
  problem_ = absl::OkStatus();
  changed_.NotifyAll();
}

void Delivery::CheckStream() {
  if (call_ == nullptr) return;
  if (call_->broken()) {
    call_->Close();
    // If it has not ended yet, that is what wakes this thread next.
    if (const auto status = call_->ended()) {
      StreamEnded(*status);
      return;
    }
  }
  bool stalled = false;
  {
    base::MutexLock lock(mutex_);
    stalled = acknowledged_ < pushed_ &&
              Clock::now() >= std::max(progress_at_, opened_at_) + stalled_after_;
  }
  if (!stalled) return;
  StreamEnded(absl::DeadlineExceededError(base::StrCat("the store has acknowledged nothing for ",
                                                       options_.stalled_after.count(),
                                                       " ms; look whether it hangs")));
}

void Delivery::StreamEnded(const absl::Status& status) {
  TakeAcknowledgements();        // the last ones
  if (call_ == nullptr) return;  // they were refused
  call_.reset();
  opened_ = false;
  sent_sessions_.clear();
  next_ = acknowledged_sequence() + 1;
  if (IsRefusal(status)) {
    Refuse(status);
    return;
  }
  RetryLater(status.ok() ? absl::UnavailableError("the store ended the stream") : status);
}

void Delivery::RetryLater(const absl::Status& problem) {
  retry_at_ = Clock::now() + retry_;
  retry_ = std::min(retry_ * 2, options_.retry_most);
  base::MutexLock lock(mutex_);
  problem_ = problem;
}

void Delivery::SpillIfNeeded() {
  {
    base::MutexLock lock(mutex_);
    if (!failure_.ok() || memory_.empty()) return;
    if (Clock::now() >= progress_at_ + options_.spool_after) spooling_ = true;
    if (!spooling_) return;
  }
  Spill();
}

void Delivery::Spill() {
  while (SpillBatch()) {
  }
}

// Whether there is more to do, and room.
bool Delivery::SpillBatch() {
  SpoolChain::Requests batch;
  {
    // The requests stay where they are: only this thread takes them away.
    base::MutexLock lock(mutex_);
    size_t bytes = 0;
    for (const AppendRequest& request : memory_) {
      if (bytes >= kSpillBytes) break;
      bytes += request.ByteSizeLong();
      batch.push_back(&request);
    }
  }
  if (batch.empty()) return false;
  const absl::StatusOr<size_t> result = chain_->Append(batch, sent_, spooled_session_);
  const size_t taken = result.value_or(0);
  const bool full = taken < batch.size();
  if (full) spill_at_ = Clock::now() + options_.retry_most;
  base::MutexLock lock(mutex_);
  for (size_t i = 0; i < taken; ++i) {
    spooled_ = memory_.front().sequence();
    memory_bytes_ -= memory_.front().ByteSizeLong();
    memory_.pop_front();
  }
  spooled_bytes_ = chain_->bytes();
  spool_full_ = full;
  if (!result.ok()) problem_ = result.status();
  changed_.NotifyAll();
  return !full && !memory_.empty();
}

void Delivery::OpenStream() {
  {
    base::MutexLock lock(mutex_);
    if (call_ != nullptr || !failure_.ok() || acknowledged_ == pushed_) return;
    if (Clock::now() < retry_at_) return;
    next_ = acknowledged_ + 1;
  }
  if (spool_.HasOlder(session_id_, chain_->epoch())) {
    retry_ = options_.retry_least;
    RetryLater(absl::UnavailableError("an epoch before this one is still being delivered"));
    return;
  }
  opened_at_ = Clock::now();
  call_ = std::make_unique<AppendCall>(*store_, [this] { Poke(); });
}

std::optional<Delivery::AppendRequest> Delivery::TakeNext() {
  std::optional<AppendRequest> request;
  if (next_ <= chain_->last_sequence()) {
    auto read = chain_->Read(next_);
    if (!read.ok()) {
      Refuse(absl::DataLossError(read.status().message()));
      return std::nullopt;
    }
    request = *std::move(read);
  } else {
    base::MutexLock lock(mutex_);
    request = memory_[next_ - memory_.front().sequence()];
  }
  if (request->has_session()) sent_sessions_.emplace_back(next_, request->session());
  ++next_;
  return request;
}

void Delivery::SendSome() {
  while (call_ != nullptr && call_->CanWrite()) {
    {
      base::MutexLock lock(mutex_);
      if (next_ > pushed_ || next_ > acknowledged_ + options_.in_flight) return;
    }
    // Where that fails, the spool is delivered first: then there is no end to be open.
    if (next_ > chain_->last_sequence() && !chain_->MarkOpenEnd().ok()) return;
    std::optional<AppendRequest> request = TakeNext();
    if (!request) return;
    sent_ = std::max(sent_, request->sequence());
    if (!std::exchange(opened_, true)) {
      request->set_epoch(chain_->epoch());
      if (!request->has_session()) *request->mutable_session() = acknowledged_session_;
    }
    call_->Write(*std::move(request));
  }
}

// Back to memory, once the store acknowledges again and has been sent what is in the spool.
void Delivery::LeaveSpool() {
  if (call_ == nullptr || !call_->acknowledged() || next_ <= chain_->last_sequence()) return;
  base::MutexLock lock(mutex_);
  if (spooling_ && Clock::now() < progress_at_ + options_.spool_after) spooling_ = false;
}

void Delivery::Refuse(const absl::Status& why) {
  call_.reset();
  Spill();
  chain_->Refuse();
  base::MutexLock lock(mutex_);
  base::LogError(
      kLog, base::StrCat("session ", session_id_, ", epoch ", chain_->epoch(),
                         ": the store takes nothing after request ", acknowledged_, " of ", pushed_,
                         ": ", why.ToString(), "; the rest is in the spool's .refused files"));
  if (!memory_.empty()) {
    base::LogError(kLog, base::StrCat(memory_.size(), " requests found no room there"));
  }
  failure_ = why;
  problem_ = why;
  spooled_bytes_ = 0;
  changed_.NotifyAll();
}

void Delivery::ShutDown() {
  TakeAcknowledgements();
  call_.reset();
  {
    base::MutexLock lock(mutex_);
    if (!failure_.ok()) return;
  }
  Spill();
  base::MutexLock lock(mutex_);
  if (memory_.empty()) return;
  base::LogError(kLog, base::StrCat("session ", session_id_, ": ", memory_.size(),
                                    " requests were lost, the spool has no room"));
}

}  // namespace nanolane::collector
