// collector.v1 over a Collector. Thread-safe.
#pragma once

#include "libs/rpc/worker_pool.h"
#include "nanolane/collector/v1/collector.grpc.pb.h"
#include "services/collector/collector.h"

namespace nanolane::collector {

class CollectorService final : public v1::CollectorService::CallbackService {
 public:
  // The collector outlives the service.
  explicit CollectorService(Collector& collector);

  grpc::ServerUnaryReactor* ListProcesses(grpc::CallbackServerContext* context,
                                          const v1::ListProcessesRequest* request,
                                          v1::ListProcessesResponse* response) override;
  grpc::ServerUnaryReactor* StartCapture(grpc::CallbackServerContext* context,
                                         const v1::StartCaptureRequest* request,
                                         v1::StartCaptureResponse* response) override;
  grpc::ServerUnaryReactor* EndCapture(grpc::CallbackServerContext* context,
                                       const v1::EndCaptureRequest* request,
                                       v1::EndCaptureResponse* response) override;
  grpc::ServerUnaryReactor* ListCaptures(grpc::CallbackServerContext* context,
                                         const v1::ListCapturesRequest* request,
                                         v1::ListCapturesResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchCaptureResponse>* WatchCapture(
      grpc::CallbackServerContext* context, const v1::WatchCaptureRequest* request) override;

 private:
  Collector& collector_;
  rpc::WorkerPool calls_;
  rpc::WorkerPool watches_;
};

}  // namespace nanolane::collector
