#include "services/collector/delivery/delivery.h"

#include <algorithm>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

namespace nanolane::collector {
namespace {

// What the store takes as one message, less room for epoch, sequence and framing.
constexpr size_t kMaxRequestBytes = (8 << 20) - 64;

}  // namespace

Delivery::Delivery(Spool& spool, const DeliveryOptions& options,
                   const nanolane::trace::v1::Session& session, std::unique_ptr<SpoolChain> chain)
    : spool_(spool),
      options_(options),
      session_id_(session.session_id()),
      resumed_(!chain->empty()),
      store_(nanolane::store::v1::StoreService::NewStub(options.store)),
      chain_(std::move(chain)),
      acknowledged_session_(session),
      spooled_session_(session) {
  if (resumed_) {
    acknowledged_ = chain_->first_sequence() - 1;
    spooled_ = pushed_ = chain_->last_sequence();
    spooled_bytes_ = chain_->bytes();
    next_ = chain_->first_sequence();
    spooling_ = true;
  }
  pushed_session_bytes_ = session.ByteSizeLong();
  progress_at_ = Clock::now();
  retry_ = options_.retry_least;
  stalled_after_ = options_.stalled_after;
  retry_at_ = progress_at_;
  thread_ = std::thread([this] { Run(); });
}

absl::StatusOr<std::unique_ptr<Delivery>> Delivery::Open(
    Spool& spool, const DeliveryOptions& options, const nanolane::trace::v1::Session& session,
    uint64_t epoch) {
  if (session.session_id().empty()) {
    return absl::InvalidArgumentError("a delivery needs a session with an id");
  }
  if (spool.HeldOf(session.session_id(), epoch)) {
    return absl::AlreadyExistsError(base::StrCat("the spool holds requests of epoch ", epoch,
                                                 " of session ", session.session_id(),
                                                 "; open a higher one"));
  }
  auto chain = std::make_unique<SpoolChain>(spool, session.session_id(), epoch);
  return std::unique_ptr<Delivery>(new Delivery(spool, options, session, std::move(chain)));
}

std::unique_ptr<Delivery> Delivery::Resume(Spool& spool, const DeliveryOptions& options,
                                           std::unique_ptr<SpoolChain> leftover) {
  const nanolane::trace::v1::Session session = leftover->session();
  return std::unique_ptr<Delivery>(new Delivery(spool, options, session, std::move(leftover)));
}

Delivery::~Delivery() {
  Stop();
  thread_.join();
}

void Delivery::Stop() {
  base::MutexLock lock(mutex_);
  stopping_ = true;
  wake_.NotifyAll();
  changed_.NotifyAll();
}

void Delivery::Poke() {
  base::MutexLock lock(mutex_);
  poked_ = true;
  wake_.NotifyAll();
}

bool Delivery::HasRoom(size_t bytes) const {
  return memory_.empty() || memory_bytes_ + bytes <= options_.memory_bytes;
}

absl::StatusOr<uint64_t> Delivery::Push(AppendRequest request) {
  if (request.has_session() && request.session().session_id() != session_id_) {
    return absl::InvalidArgumentError(base::StrCat("session \"", request.session().session_id(),
                                                   "\" in the delivery of ", session_id_,
                                                   "; open one for each"));
  }
  base::MutexLock lock(mutex_);
  if (resumed_) return absl::FailedPreconditionError("nothing is pushed to an epoch that is over");
  request.set_epoch(0);
  request.set_sequence(pushed_ + 1);
  const size_t bytes = request.ByteSizeLong();
  const size_t session_bytes = request.has_session() ? 0 : pushed_session_bytes_;
  if (bytes + session_bytes > kMaxRequestBytes) {
    return absl::InvalidArgumentError(base::StrCat("a request of ", bytes, " bytes is over ",
                                                   kMaxRequestBytes, "; send it in several"));
  }
  if (failure_.ok() && !stopping_ && !HasRoom(bytes)) {
    spooling_ = true;
    spool_full_ = false;  // asks for one more attempt
    poked_ = true;
    wake_.NotifyAll();
    changed_.Wait(mutex_, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return HasRoom(bytes) || spool_full_ || stopping_ || !failure_.ok();
    });
  }
  RETURN_IF_ERROR(failure_);
  if (stopping_) return absl::CancelledError("the delivery is being stopped");
  if (!HasRoom(bytes)) {
    return absl::ResourceExhaustedError(
        base::StrCat("memory and spool are full: ", problem_.message()));
  }
  if (request.has_session()) pushed_session_bytes_ = request.session().ByteSizeLong();
  if (acknowledged_ == pushed_)
    progress_at_ = Clock::now();  // from here on the store is waited for
  memory_.push_back(std::move(request));
  memory_bytes_ += bytes;
  ++pushed_;
  poked_ = true;
  wake_.NotifyAll();
  return pushed_;
}

absl::Status Delivery::Finish(const nanolane::trace::v1::Session& final_session) {
  std::optional<uint64_t> last;
  {
    base::MutexLock lock(mutex_);
    last = final_;
  }
  if (!last) {
    AppendRequest request;
    *request.mutable_session() = final_session;
    request.mutable_session()->set_ended(true);
    ASSIGN_OR_RETURN(last, Push(std::move(request)));
  }
  base::MutexLock lock(mutex_);
  final_ = last;
  spool_full_ = false;
  poked_ = true;
  wake_.NotifyAll();
  const auto safe = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return std::max(acknowledged_, spooled_) >= *last;
  };
  changed_.Wait(mutex_, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return safe() || spool_full_ || stopping_ || !failure_.ok();
  });
  if (!failure_.ok()) return failure_;
  if (safe()) return absl::OkStatus();
  if (stopping_) return absl::CancelledError("the delivery is being stopped");
  return absl::ResourceExhaustedError(base::StrCat("the spool is full: ", problem_.message()));
}

uint64_t Delivery::safe_sequence() const {
  base::MutexLock lock(mutex_);
  return std::max(acknowledged_, spooled_);
}

uint64_t Delivery::acknowledged_sequence() const {
  base::MutexLock lock(mutex_);
  return acknowledged_;
}

uint64_t Delivery::pushed_sequence() const {
  base::MutexLock lock(mutex_);
  return pushed_;
}

uint64_t Delivery::spooled_bytes() const {
  base::MutexLock lock(mutex_);
  return spooled_bytes_;
}

absl::Status Delivery::failure() const {
  base::MutexLock lock(mutex_);
  return failure_;
}

absl::Status Delivery::last_problem() const {
  base::MutexLock lock(mutex_);
  return problem_;
}

bool Delivery::WaitDelivered(std::chrono::milliseconds timeout) {
  base::MutexLock lock(mutex_);
  const auto delivered = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return acknowledged_ == pushed_ && spooled_bytes_ == 0;
  };
  changed_.WaitFor(mutex_, timeout, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return delivered() || stopping_ || !failure_.ok();
  });
  return delivered() && failure_.ok();
}

}  // namespace nanolane::collector
