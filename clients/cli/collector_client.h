// Calls of the collector as the commands need them. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/cli/options.h"
#include "nanolane/collector/v1/collector.grpc.pb.h"

namespace nanolane::cli {

namespace collector_v1 = nanolane::collector::v1;

class CollectorClient {
 public:
  static absl::StatusOr<std::unique_ptr<CollectorClient>> Connect(const GlobalOptions& options);

  // By pid.
  absl::StatusOr<std::vector<collector_v1::Process>> ListProcesses();
  absl::StatusOr<collector_v1::StartCaptureResponse> StartCapture(
      const collector_v1::StartCaptureRequest& request);
  absl::Status EndCapture(const std::string& session_id);
  // What a call with this context returns reads as WatchCapture says; Finish() it through
  // Explain().
  std::unique_ptr<grpc::ClientReader<collector_v1::WatchCaptureResponse>> WatchCapture(
      grpc::ClientContext& context, const collector_v1::WatchCaptureRequest& request);

  // The status of a call, with what to do where the server has no collector.
  absl::Status Explain(const grpc::Status& status) const;

 private:
  CollectorClient(std::string address, std::unique_ptr<collector_v1::CollectorService::Stub> stub)
      : address_(std::move(address)), stub_(std::move(stub)) {}

  const std::string address_;
  const std::unique_ptr<collector_v1::CollectorService::Stub> stub_;
};

}  // namespace nanolane::cli
