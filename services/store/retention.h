// Retention: which sessions have to go, by age and size, for all and for single projects; and the
// thread that deletes them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/base/clock.h"
#include "libs/base/mutex.h"
#include "services/store/committer.h"
#include "services/store/store.h"

namespace nanolane::store {

// What is kept; 0: no bound.
struct RetentionLimits {
  int64_t max_age_ns = 0;  // since the newest append
  uint64_t max_bytes = 0;  // stored bytes of all sessions that the limits are for
  bool bounded() const { return max_age_ns > 0 || max_bytes > 0; }
};

struct RetentionPolicy {
  RetentionLimits all;
  std::map<std::string, RetentionLimits> projects;  // beside, not instead of, those for all
  bool bounded() const { return all.bounded() || !projects.empty(); }
};

// "age=7d,bytes=10GB": either or both. INVALID_ARGUMENT that says how to write it.
absl::StatusOr<RetentionLimits> ParseRetention(std::string_view text);

// "10GB", in MB, GB or TB.
absl::StatusOr<uint64_t> ParseBytes(std::string_view text);

// Sessions that have to go, those first that were appended to longest ago. Sessions that have not
// ended are spared as long as they are written to (kWrittenNs).
std::vector<std::string> SessionsToDelete(const std::vector<SessionSummary>& sessions,
                                          const RetentionPolicy& policy, int64_t now_unix_ns);

inline constexpr int64_t kWrittenNs = int64_t{600} * 1'000'000'000;

// Deletes what has to go, now and then. Thread-safe.
class Retention {
 public:
  Retention(Store& store, Committer& committer, RetentionPolicy policy, const base::Clock& clock);
  ~Retention();

  // One round. Returns how many sessions were deleted.
  absl::StatusOr<int> RunOnce();

 private:
  void Run();

  Store& store_;
  Committer& committer_;
  const RetentionPolicy policy_;
  const base::Clock& clock_;
  base::Mutex mutex_;
  base::CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Deletes a session and gives its space back.
absl::Status DeleteSession(Store& store, Committer& committer, const std::string& session_id);

}  // namespace nanolane::store
