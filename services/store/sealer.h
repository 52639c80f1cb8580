// Seals sessions in the background: one thread that prepares runs beside everything else and has
// them published by the committer, and that forgets logs once followers have had their time.
// Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "libs/base/mutex.h"
#include "services/store/committer.h"
#include "services/store/store.h"

namespace nanolane::store {

class Sealer final : public CommitObserver {
 public:
  Sealer(Store& store, Committer& committer, const SealOptions& options);
  ~Sealer() override;

  void OnCommitted(const std::string& session_id) override;

  // Waits until nothing is left to seal of what was committed before the call. For tests and
  // benches.
  void WaitIdle();

 private:
  using Clock = std::chrono::steady_clock;

  void Run();
  void SealAll(const std::string& session_id);
  void Trim(const std::string& session_id);
  // The session to work on next, waiting for one; false: stopping.
  bool Take(std::string& session_id, bool& trim);

  Store& store_;
  Committer& committer_;
  const std::chrono::nanoseconds keep_log_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::set<std::string> waiting_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Clock::time_point> trims_ ABSL_GUARDED_BY(mutex_);  // when due
  bool working_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace nanolane::store
