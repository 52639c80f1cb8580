// Group commit: one thread that takes all appends that wait and writes them with one sync.
//
// Appends of a stream are committed in the order in which they were submitted. While a commit
// syncs, the next ones gather: the more writers, the more each sync carries. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "libs/base/mutex.h"
#include "services/store/store.h"

namespace nanolane::store {

class Committer {
 public:
  // Told on the committer's thread once the item is durable or refused; must not block.
  using Done = std::function<void(const absl::Status&, uint64_t acknowledged_sequence)>;

  explicit Committer(Store& store);
  // Commits what was submitted, then ends.
  ~Committer();

  // Never blocks. Who submits bounds what waits (AppendStream does, per stream).
  void Submit(std::string session_id, uint64_t epoch, std::unique_ptr<v1::AppendRequest> request,
              Done done);

  // Deletes after the appends that were submitted before, and waits for it.
  absl::Status Delete(const std::string& session_id);

 private:
  struct Pending {
    std::string session_id;
    uint64_t epoch = 0;
    std::unique_ptr<v1::AppendRequest> request;  // null: a deletion
    Done done;
  };

  void Run();
  void CommitAll(std::vector<Pending>& batch);

  Store& store_;
  base::Mutex mutex_;
  base::CondVar arrived_;
  std::vector<Pending> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace nanolane::store
