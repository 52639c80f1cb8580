// Delivers what a former collector left in the spool: one session after the other, its epochs in
// order, with their sequences as they were, so that the store drops what it has. A file goes once
// the store has all of it. Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "libs/base/mutex.h"
#include "services/collector/delivery/delivery.h"

namespace nanolane::collector {

class SpoolReplay {
 public:
  // Takes the leftovers of the spool, which outlives the replay. Does not wait for the store.
  SpoolReplay(Spool& spool, const DeliveryOptions& options);
  // Ends promptly; what is not delivered stays in the spool.
  ~SpoolReplay();

  // Epochs of sessions that are not delivered yet (refused ones are done with).
  size_t left() const;
  // Of the delivery that is running; OK when there is none.
  absl::Status last_problem() const;
  // Whether all is done, waiting for it at most this long.
  bool WaitDone(std::chrono::milliseconds timeout);

 private:
  void Run(std::vector<std::unique_ptr<SpoolChain>> chains);

  Spool& spool_;
  const DeliveryOptions options_;
  mutable base::Mutex mutex_;  // before a delivery's own
  base::CondVar changed_;
  size_t left_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<Delivery> running_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace nanolane::collector
