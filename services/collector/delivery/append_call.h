// One append stream to a store, driven by one thread that never waits in gRPC: it asks what has
// happened and is told, by a callback, that something has.
//
// Write() and Close() are for the owner's thread; the callback comes on gRPC's threads and must not
// block. Destruction cancels what is running and waits for gRPC to let go, which is soon.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "libs/base/mutex.h"
#include "nanolane/store/v1/store.grpc.pb.h"

namespace nanolane::collector {

class AppendCall final : public grpc::ClientBidiReactor<nanolane::store::v1::AppendRequest,
                                                        nanolane::store::v1::AppendResponse> {
 public:
  AppendCall(nanolane::store::v1::StoreService::StubInterface& store,
             std::function<void()> changed);
  ~AppendCall() override;

  // Whether a write may be started: none is running, and the stream is whole.
  bool CanWrite() const;
  void Write(nanolane::store::v1::AppendRequest request);

  // The highest acknowledgement so far; nothing before the first.
  std::optional<uint64_t> acknowledged() const;
  // Whether the stream is broken or ended by the store. How it ended is known soon after.
  bool broken() const;
  // Lets a broken stream end.
  void Close();
  std::optional<absl::Status> ended() const;

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  const std::function<void()> changed_;
  grpc::ClientContext context_;
  nanolane::store::v1::AppendRequest request_;    // being written
  nanolane::store::v1::AppendResponse response_;  // being read
  bool held_ = true;                              // gRPC waits for more writes; owner's thread
  mutable base::Mutex mutex_;
  base::CondVar let_go_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<uint64_t> acknowledged_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> ended_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace nanolane::collector
