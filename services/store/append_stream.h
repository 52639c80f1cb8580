// The reactor of one append stream: reads requests, hands them to the committer, acknowledges what
// is durable.
//
// At most kMaxOutstanding requests of a stream wait for the disk, and those of all streams take no
// more than the committer has room for; the next one is not read before, which is the writer's
// back-pressure. The first error ends the stream, after the acknowledgements before it. Deletes
// itself when gRPC is done with it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "libs/base/mutex.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "services/store/committer.h"

namespace nanolane::store {

class AppendStream final : public grpc::ServerBidiReactor<v1::AppendRequest, v1::AppendResponse> {
 public:
  explicit AppendStream(Committer& committer);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override { delete this; }

 private:
  static constexpr int kMaxOutstanding = 8;

  absl::Status CheckRequest();
  void SubmitRequest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnCommitted(const absl::Status& status, uint64_t sequence);
  void OnRoom();
  // Runs `change` under the lock, then starts whatever can be started: a read, a write of the
  // newest acknowledgement, the end.
  template <typename Change>
  void Step(Change change);
  // Whether it is time to finish.
  bool Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Committer& committer_;
  base::Mutex mutex_;
  std::unique_ptr<v1::AppendRequest> request_;  // being read
  v1::AppendResponse response_;                 // being written
  std::string session_id_;
  uint64_t epoch_ = 0;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool waits_for_room_ ABSL_GUARDED_BY(mutex_) = false;
  bool reads_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool acknowledge_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
  int outstanding_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace nanolane::store
