// Group commit: one thread that takes all appends that wait and writes them with one sync.
//
// Appends of a stream are committed in the order in which they were submitted. While a commit
// syncs, the next ones gather: the more writers, the more each sync carries. What else must not
// happen beside a commit (a deletion, the publishing of a seal) runs on the same thread, in turn.
// What waits is bounded in bytes, over all streams: a stream asks for room before it reads on.
// Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libs/base/mutex.h"
#include "services/store/store.h"

namespace nanolane::store {

// Told on the committer's thread of each session that changed (was appended to, sealed, deleted),
// once that is durable; must not block.
class CommitObserver {
 public:
  virtual ~CommitObserver() = default;
  virtual void OnCommitted(const std::string& session_id) = 0;
};

class Committer {
 public:
  // Told on the committer's thread once the item is durable or refused; must not block.
  using Done = std::function<void(const absl::Status&, uint64_t acknowledged_sequence)>;

  explicit Committer(Store& store);
  // Commits what was submitted, then ends.
  ~Committer();

  // The observer outlives the committer, or is removed (which waits for a call that is running).
  void AddObserver(CommitObserver& observer);
  void RemoveObserver(CommitObserver& observer);

  // Whether more may be submitted. If not, `resume` is called once it may, on the committer's
  // thread. Who asks and is told yes may submit one request.
  bool AskForRoom(std::function<void()> resume);

  // Never blocks.
  void Submit(std::string session_id, uint64_t epoch, std::unique_ptr<v1::AppendRequest> request,
              Done done);

  // Runs `work` on the committer's thread after what was submitted before, and waits for it.
  // Observers are told of `changed_session`, unless it is empty, when `work` is OK.
  absl::Status RunExclusive(const std::string& changed_session, std::function<absl::Status()> work);

 private:
  // Bytes of requests that may wait: some tens of milliseconds of work.
  static constexpr size_t kWaitingBytes = 32 << 20;

  struct Pending {
    std::string session_id;
    uint64_t epoch = 0;
    std::unique_ptr<v1::AppendRequest> request;  // null: `work`
    std::function<absl::Status()> work;
    Done done;
    size_t bytes = 0;
  };

  void Enqueue(Pending pending);
  void Run();
  void CommitAll(std::vector<Pending>& batch);
  size_t CommitSome(std::vector<Pending>& batch, size_t from);
  void Tell(const std::vector<std::string>& sessions);
  void Release(size_t bytes);

  Store& store_;
  base::Mutex mutex_;
  base::CondVar arrived_;
  std::vector<Pending> waiting_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::function<void()>> without_room_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  base::Mutex observers_mutex_;  // taken while observers are called, never with mutex_
  std::vector<CommitObserver*> observers_ ABSL_GUARDED_BY(observers_mutex_);

  std::thread thread_;
};

}  // namespace nanolane::store
