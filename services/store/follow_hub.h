// Followers of sessions: wakes those whose session has changed, and runs what they read.
//
// The committer only takes a note (OnCommitted); a thread of the hub's own wakes the followers, and
// a few workers read for them. A follower that reads slowly, or has nothing to read, holds no
// thread. Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "libs/base/mutex.h"
#include "libs/rpc/worker_pool.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "services/store/committer.h"
#include "services/store/store.h"

namespace nanolane::store {

class FollowStream;

class FollowHub final : public CommitObserver {
 public:
  FollowHub(Store& store, Committer& committer);
  ~FollowHub() override;

  // The reactor of one follower; deletes itself.
  grpc::ServerWriteReactor<v1::FollowResponse>* Follow(const v1::FollowRequest& request);

  void OnCommitted(const std::string& session_id) override;

 private:
  friend class FollowStream;
  static constexpr size_t kMostFollowers = 512;
  static constexpr size_t kReaders = 4;

  // False: there are too many.
  bool Join(const std::string& session_id, FollowStream& stream);
  void Leave(const std::string& session_id, FollowStream& stream);
  void Run();

  Store& store_;
  Committer& committer_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::map<std::string, std::set<FollowStream*>> followers_ ABSL_GUARDED_BY(mutex_);
  size_t follower_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<std::string> dirty_ ABSL_GUARDED_BY(mutex_);  // sessions that changed, with followers
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  rpc::WorkerPool readers_;
  std::thread thread_;
};

}  // namespace nanolane::store
