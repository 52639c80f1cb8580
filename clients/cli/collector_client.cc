#include "clients/cli/collector_client.h"

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"

namespace nanolane::cli {
namespace {

// The process may need seconds to turn CUPTI on; the collector knows best when to give up on it.
constexpr std::chrono::seconds kStartDeadline(60);

}  // namespace

absl::StatusOr<std::unique_ptr<CollectorClient>> CollectorClient::Connect(
    const GlobalOptions& options) {
  ASSIGN_OR_RETURN(const auto channel, rpc::Connect(options.server));
  return std::unique_ptr<CollectorClient>(
      new CollectorClient(options.server, collector_v1::CollectorService::NewStub(channel)));
}

absl::StatusOr<std::vector<collector_v1::Process>> CollectorClient::ListProcesses() {
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  collector_v1::ListProcessesResponse response;
  RETURN_IF_ERROR(Explain(stub_->ListProcesses(&context, {}, &response)));
  return std::vector<collector_v1::Process>(response.processes().begin(),
                                            response.processes().end());
}

absl::StatusOr<collector_v1::StartCaptureResponse> CollectorClient::StartCapture(
    const collector_v1::StartCaptureRequest& request) {
  grpc::ClientContext context;
  rpc::SetDeadline(context, kStartDeadline);
  collector_v1::StartCaptureResponse response;
  RETURN_IF_ERROR(Explain(stub_->StartCapture(&context, request, &response)));
  return response;
}

absl::Status CollectorClient::EndCapture(const std::string& session_id) {
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  collector_v1::EndCaptureRequest request;
  request.set_session_id(session_id);
  collector_v1::EndCaptureResponse response;
  return Explain(stub_->EndCapture(&context, request, &response));
}

std::unique_ptr<grpc::ClientReader<collector_v1::WatchCaptureResponse>>
CollectorClient::WatchCapture(grpc::ClientContext& context,
                              const collector_v1::WatchCaptureRequest& request) {
  return stub_->WatchCapture(&context, request);
}

absl::Status CollectorClient::Explain(const grpc::Status& status) const {
  if (status.error_code() != grpc::StatusCode::UNIMPLEMENTED) return rpc::FromGrpc(status);
  return absl::UnimplementedError(
      base::StrCat("the server at ", address_,
                   " has no collector, so it cannot capture; \"nanolane up\" starts one that has"));
}

}  // namespace nanolane::cli
