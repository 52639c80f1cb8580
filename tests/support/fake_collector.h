// A collector whose answers are scripted, for tests of its clients: no process, no GPU, and every
// step waits for the one that the test wants before it. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "libs/base/mutex.h"
#include "libs/rpc/server.h"
#include "nanolane/collector/v1/collector.grpc.pb.h"

namespace nanolane::testing {

struct CollectorScript {
  std::vector<nanolane::collector::v1::Process> processes;
  // Answer to StartCapture; a status that is not OK refuses.
  grpc::Status start_status = grpc::Status::OK;
  nanolane::collector::v1::StartCaptureResponse started;
  // What WatchCapture sends, one after the other,
  std::vector<nanolane::collector::v1::CaptureStatus> steps;
  // then, if this holds, after EndCapture has been called,
  bool waits_for_end = false;
  // this, which ends the stream.
  nanolane::collector::v1::CaptureStatus last;
  // EndCapture does not answer until the collector goes.
  bool end_hangs = false;
};

class FakeCollector final : private nanolane::collector::v1::CollectorService::Service {
 public:
  // Listens on a free port of the loopback address.
  explicit FakeCollector(CollectorScript script);
  ~FakeCollector() override;

  const std::string& address() const { return server_->address(); }

  // Blocks until all steps of a capture have been sent to somebody, or until EndCapture has been
  // called.
  void WaitUntilWatched();
  void WaitUntilEndAsked();

  std::vector<nanolane::collector::v1::StartCaptureRequest> starts() const;
  std::vector<std::string> ended_sessions() const;

 private:
  grpc::Status ListProcesses(grpc::ServerContext* context,
                             const nanolane::collector::v1::ListProcessesRequest* request,
                             nanolane::collector::v1::ListProcessesResponse* response) override;
  grpc::Status StartCapture(grpc::ServerContext* context,
                            const nanolane::collector::v1::StartCaptureRequest* request,
                            nanolane::collector::v1::StartCaptureResponse* response) override;
  grpc::Status EndCapture(grpc::ServerContext* context,
                          const nanolane::collector::v1::EndCaptureRequest* request,
                          nanolane::collector::v1::EndCaptureResponse* response) override;
  grpc::Status WatchCapture(
      grpc::ServerContext* context, const nanolane::collector::v1::WatchCaptureRequest* request,
      grpc::ServerWriter<nanolane::collector::v1::WatchCaptureResponse>* writer) override;

  const CollectorScript script_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<nanolane::collector::v1::StartCaptureRequest> starts_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> ended_sessions_ ABSL_GUARDED_BY(mutex_);
  bool watched_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<rpc::Server> server_;
};

}  // namespace nanolane::testing
