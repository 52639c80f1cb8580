#include "services/collector/delivery/spool_replay.h"

#include <utility>

#include "libs/base/log.h"
#include "libs/base/str_cat.h"

namespace nanolane::collector {
namespace {

constexpr std::chrono::hours kLong(24 * 365);

}  // namespace

SpoolReplay::SpoolReplay(Spool& spool, const DeliveryOptions& options)
    : spool_(spool), options_(options) {
  std::vector<std::unique_ptr<SpoolChain>> chains = spool.TakeLeftovers();
  left_ = chains.size();
  if (!chains.empty()) {
    base::LogInfo("delivery", base::StrCat("epochs of sessions left in the spool: ", left_));
  }
  thread_ = std::thread([this, chains = std::move(chains)]() mutable { Run(std::move(chains)); });
}

SpoolReplay::~SpoolReplay() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    if (running_ != nullptr) running_->Stop();
  }
  thread_.join();
}

void SpoolReplay::Run(std::vector<std::unique_ptr<SpoolChain>> chains) {
  for (std::unique_ptr<SpoolChain>& chain : chains) {
    Delivery* delivery = nullptr;
    {
      base::MutexLock lock(mutex_);
      if (stopping_) return;
      running_ = Delivery::Resume(spool_, options_, std::move(chain));
      delivery = running_.get();  // this thread alone ends it
    }
    delivery->WaitDelivered(kLong);
    std::unique_ptr<Delivery> ended;
    {
      base::MutexLock lock(mutex_);
      ended = std::move(running_);
      if (!stopping_) --left_;
    }
    ended.reset();
    changed_.NotifyAll();
  }
}

size_t SpoolReplay::left() const {
  base::MutexLock lock(mutex_);
  return left_;
}

absl::Status SpoolReplay::last_problem() const {
  base::MutexLock lock(mutex_);
  return running_ == nullptr ? absl::OkStatus() : running_->last_problem();
}

bool SpoolReplay::WaitDone(std::chrono::milliseconds timeout) {
  base::MutexLock lock(mutex_);
  return changed_.WaitFor(mutex_, timeout,
                          [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return left_ == 0; });
}

}  // namespace nanolane::collector
