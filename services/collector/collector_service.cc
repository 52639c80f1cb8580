#include "services/collector/collector_service.h"

#include <algorithm>
#include <chrono>

#include "libs/base/status_macros.h"
#include "libs/rpc/handlers.h"

namespace nanolane::collector {
namespace {

// Starting takes as long as the process needs to answer.
constexpr size_t kCalls = 32;
constexpr size_t kWaitingCalls = 256;
constexpr size_t kWatches = 64;

constexpr std::chrono::milliseconds kInterval(500);
constexpr std::chrono::milliseconds kLeastInterval(50);
// Between looks at whether the client is still there.
constexpr std::chrono::milliseconds kLongestWait(500);

bool HasEnded(const v1::CaptureStatus& status) {
  return status.state() == v1::CAPTURE_STATE_DONE || status.state() == v1::CAPTURE_STATE_FAILED;
}

std::chrono::milliseconds IntervalOf(const v1::WatchCaptureRequest& request) {
  if (!request.has_interval()) return kInterval;
  const std::chrono::milliseconds asked(request.interval().seconds() * 1'000 +
                                        request.interval().nanos() / 1'000'000);
  return std::clamp<std::chrono::milliseconds>(asked, kLeastInterval, std::chrono::hours(1));
}

absl::Status Watch(const v1::WatchCaptureRequest& request, const Collector& collector,
                   rpc::StreamWriter<v1::WatchCaptureResponse>& writer) {
  using Clock = std::chrono::steady_clock;
  const std::chrono::milliseconds interval = IntervalOf(request);
  uint64_t version = 0;
  auto next_write = Clock::now();
  while (!writer.cancelled()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(next_write - Clock::now());
    ASSIGN_OR_RETURN(v1::CaptureStatus status,
                     collector.WaitCapture(request.session_id(), version,
                                           std::clamp<std::chrono::milliseconds>(
                                               left, std::chrono::milliseconds(1), kLongestWait)));
    const bool ended = HasEnded(status);
    if (!ended && Clock::now() < next_write) continue;
    v1::WatchCaptureResponse response;
    *response.mutable_status() = std::move(status);
    if (!writer.Write(std::move(response)) || ended) break;
    next_write = Clock::now() + interval;
  }
  return absl::OkStatus();
}

}  // namespace

CollectorService::CollectorService(Collector& collector)
    : collector_(collector), calls_(kCalls, kWaitingCalls), watches_(kWatches, kWatches) {}

grpc::ServerUnaryReactor* CollectorService::ListProcesses(grpc::CallbackServerContext* context,
                                                          const v1::ListProcessesRequest*,
                                                          v1::ListProcessesResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this] {
    for (v1::Process& process : collector_.ListProcesses()) {
      *response->add_processes() = std::move(process);
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* CollectorService::StartCapture(grpc::CallbackServerContext* context,
                                                         const v1::StartCaptureRequest* request,
                                                         v1::StartCaptureResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this] {
    return rpc::Fill(collector_.StartCapture(*request), *response);
  });
}

grpc::ServerUnaryReactor* CollectorService::EndCapture(grpc::CallbackServerContext* context,
                                                       const v1::EndCaptureRequest* request,
                                                       v1::EndCaptureResponse*) {
  return rpc::RunUnary(calls_, *context,
                       [=, this] { return collector_.EndCapture(request->session_id()); });
}

grpc::ServerUnaryReactor* CollectorService::ListCaptures(grpc::CallbackServerContext* context,
                                                         const v1::ListCapturesRequest*,
                                                         v1::ListCapturesResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this] {
    for (v1::CaptureStatus& status : collector_.ListCaptures()) {
      *response->add_captures() = std::move(status);
    }
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::WatchCaptureResponse>* CollectorService::WatchCapture(
    grpc::CallbackServerContext*, const v1::WatchCaptureRequest* request) {
  return rpc::ProducerStream<v1::WatchCaptureResponse>::Start(
      watches_, [this, request = *request](rpc::StreamWriter<v1::WatchCaptureResponse>& writer) {
        return Watch(request, collector_, writer);
      });
}

}  // namespace nanolane::collector
