// What a user does with a collector, over gRPC: looks at processes, starts and ends captures, waits
// for their end, reads their sessions. Every call has a deadline. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nanolane/collector/v1/collector.grpc.pb.h"
#include "nanolane/query/v1/query.grpc.pb.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "tests/live_capture/support/recorded_session.h"

namespace nanolane::testing {

struct CaptureWish {
  uint64_t pid = 0;
  std::vector<nanolane::collector::v1::CaptureKind> kinds;  // empty: everything
  std::chrono::milliseconds duration = std::chrono::seconds(60);
};

class CaptureClient {
 public:
  // Where both are one server, the same address twice.
  CaptureClient(const std::string& collector, const std::string& store);

  // Waits until the process has registered and CUDA has answered in it.
  bool WaitRegistered(uint64_t pid);
  absl::StatusOr<nanolane::collector::v1::Process> GetProcess(uint64_t pid);
  // The session.
  absl::StatusOr<std::string> Start(const CaptureWish& wish);
  absl::Status End(const std::string& session_id);
  // Waits for a status; the last one if the capture ends without it.
  absl::StatusOr<nanolane::collector::v1::CaptureStatus> WaitStatus(
      const std::string& session_id,
      const std::function<bool(const nanolane::collector::v1::CaptureStatus&)>& wanted);
  absl::StatusOr<nanolane::collector::v1::CaptureStatus> WaitDone(const std::string& session_id);
  // Until the store says that it has ended, whichever collector did it.
  bool WaitEnded(const std::string& session_id);
  absl::StatusOr<RecordedSession> Read(const std::string& session_id) {
    return ReadSession(*store_, session_id);
  }
  absl::StatusOr<RecordedSession> ReadSummary(const std::string& session_id) {
    return ReadSession(*store_, session_id, /*with_events=*/false);
  }
  // Ends a capture, waits for its end and reads it.
  absl::StatusOr<RecordedSession> Finish(const std::string& session_id);

  nanolane::query::v1::QueryService::Stub& query() { return *query_; }

 private:
  std::unique_ptr<nanolane::collector::v1::CollectorService::Stub> collector_;
  std::unique_ptr<nanolane::store::v1::StoreService::Stub> store_;
  std::unique_ptr<nanolane::query::v1::QueryService::Stub> query_;
};

}  // namespace nanolane::testing
