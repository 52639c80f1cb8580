#include "tests/live_capture/support/capture_client.h"

#include <thread>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"

namespace nanolane::testing {
namespace {

namespace collector_v1 = nanolane::collector::v1;

constexpr std::chrono::seconds kPatience(60);
// Between looks at what cannot be watched.
constexpr std::chrono::milliseconds kLookEvery(5);

bool LookUntil(const std::function<bool()>& is_so) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(kLookEvery);
  }
  return true;
}

bool IsOver(const collector_v1::CaptureStatus& status) {
  return status.state() == collector_v1::CAPTURE_STATE_DONE ||
         status.state() == collector_v1::CAPTURE_STATE_FAILED;
}

}  // namespace

CaptureClient::CaptureClient(const std::string& collector, const std::string& store)
    : collector_(collector_v1::CollectorService::NewStub(rpc::OpenChannel(collector))),
      store_(nanolane::store::v1::StoreService::NewStub(rpc::OpenChannel(store))),
      query_(nanolane::query::v1::QueryService::NewStub(rpc::OpenChannel(store))) {}

absl::StatusOr<collector_v1::Process> CaptureClient::GetProcess(uint64_t pid) {
  grpc::ClientContext context;
  rpc::SetDeadline(context, kPatience);
  collector_v1::ListProcessesResponse response;
  RETURN_IF_ERROR(rpc::FromGrpc(collector_->ListProcesses(&context, {}, &response)));
  for (const collector_v1::Process& process : response.processes()) {
    if (process.pid() == pid) return process;
  }
  return absl::NotFoundError(base::StrCat("no process ", pid));
}

bool CaptureClient::WaitRegistered(uint64_t pid) {
  return LookUntil([&] {
    const auto process = GetProcess(pid);
    return process.ok() && process->gpus_size() > 0;
  });
}

absl::StatusOr<std::string> CaptureClient::Start(const CaptureWish& wish) {
  grpc::ClientContext context;
  rpc::SetDeadline(context, kPatience);
  collector_v1::StartCaptureRequest request;
  request.set_pid(wish.pid);
  request.mutable_duration()->set_seconds(wish.duration.count() / 1000);
  request.mutable_duration()->set_nanos(static_cast<int32_t>(wish.duration.count() % 1000) *
                                        1'000'000);
  for (const collector_v1::CaptureKind kind : wish.kinds) request.add_kinds(kind);
  collector_v1::StartCaptureResponse response;
  RETURN_IF_ERROR(rpc::FromGrpc(collector_->StartCapture(&context, request, &response)));
  return response.session_id();
}

absl::Status CaptureClient::End(const std::string& session_id) {
  grpc::ClientContext context;
  rpc::SetDeadline(context, kPatience);
  collector_v1::EndCaptureRequest request;
  request.set_session_id(session_id);
  collector_v1::EndCaptureResponse response;
  return rpc::FromGrpc(collector_->EndCapture(&context, request, &response));
}

absl::StatusOr<collector_v1::CaptureStatus> CaptureClient::WaitStatus(
    const std::string& session_id,
    const std::function<bool(const collector_v1::CaptureStatus&)>& wanted) {
  grpc::ClientContext context;
  rpc::SetDeadline(context, kPatience);
  collector_v1::WatchCaptureRequest request;
  request.set_session_id(session_id);
  request.mutable_interval()->set_nanos(50'000'000);
  const auto stream = collector_->WatchCapture(&context, request);
  collector_v1::WatchCaptureResponse response;
  while (stream->Read(&response)) {
    if (!wanted(response.status()) && !IsOver(response.status())) continue;
    context.TryCancel();
    stream->Finish();
    return response.status();
  }
  RETURN_IF_ERROR(rpc::FromGrpc(stream->Finish()));
  return absl::InternalError("the stream of statuses ended before the capture did");
}

absl::StatusOr<collector_v1::CaptureStatus> CaptureClient::WaitDone(const std::string& session_id) {
  ASSIGN_OR_RETURN(collector_v1::CaptureStatus status, WaitStatus(session_id, IsOver));
  if (status.state() == collector_v1::CAPTURE_STATE_DONE) return status;
  return absl::InternalError(base::StrCat("the capture failed: ", status.message()));
}

bool CaptureClient::WaitEnded(const std::string& session_id) {
  return LookUntil([&] {
    const auto session = ReadSummary(session_id);
    return session.ok() && session->session().ended();
  });
}

absl::StatusOr<RecordedSession> CaptureClient::Finish(const std::string& session_id) {
  RETURN_IF_ERROR(End(session_id));
  RETURN_IF_ERROR(WaitDone(session_id).status());
  return Read(session_id);
}

}  // namespace nanolane::testing
