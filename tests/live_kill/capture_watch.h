// Starts one capture and watches it over the lives of collectors: what the last status before each
// of their ends said to be safe adds up, because each counts what it took itself. Its thread ends
// with Stop(); everything is thread-safe.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "libs/base/mutex.h"
#include "tests/live_kill/live_node.h"

namespace nanolane::testing {

class CaptureWatch {
 public:
  CaptureWatch(const LiveNode& node, collector::v1::StartCaptureRequest request);
  ~CaptureWatch() { Stop(); }

  // Waits until the capture was started or could not be.
  absl::Status AwaitStarted();
  // The collector is about to be killed, or has started again.
  void CollectorGoes();
  void CollectorIsBack();
  void Stop();

  std::string session_id() const;  // empty: not started
  uint64_t safe_events() const;
  uint64_t pid() const { return request_.pid(); }

 private:
  void Run();
  void Watch(grpc::ClientContext& context);

  const LiveNode& node_;
  const collector::v1::StartCaptureRequest request_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  bool decided_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status started_ ABSL_GUARDED_BY(mutex_);
  std::string session_id_ ABSL_GUARDED_BY(mutex_);
  uint64_t safe_before_ ABSL_GUARDED_BY(mutex_) = 0;  // of collectors that have gone
  uint64_t safe_now_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t life_ ABSL_GUARDED_BY(mutex_) = 1;  // of the collector; even: it is away
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<grpc::ClientContext> context_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace nanolane::testing
