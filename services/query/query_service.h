// QueryService over gRPC: answers from a store behind a channel. Each call runs on a worker of its
// own; a slow reader holds its worker and nobody else's memory. Thread-safe.
#pragma once

#include "libs/rpc/worker_pool.h"
#include "nanolane/query/v1/query.grpc.pb.h"
#include "services/query/store_reader.h"

namespace nanolane::query {

namespace v1 = nanolane::query::v1;

class QueryService final : public v1::QueryService::CallbackService {
 public:
  explicit QueryService(const std::shared_ptr<grpc::Channel>& store);

  grpc::ServerUnaryReactor* ListSessions(grpc::CallbackServerContext* context,
                                         const v1::ListSessionsRequest* request,
                                         v1::ListSessionsResponse* response) override;
  grpc::ServerUnaryReactor* ListLanes(grpc::CallbackServerContext* context,
                                      const v1::ListLanesRequest* request,
                                      v1::ListLanesResponse* response) override;
  grpc::ServerWriteReactor<v1::StreamTimelineResponse>* StreamTimeline(
      grpc::CallbackServerContext* context, const v1::StreamTimelineRequest* request) override;
  grpc::ServerUnaryReactor* Search(grpc::CallbackServerContext* context,
                                   const v1::SearchRequest* request,
                                   v1::SearchResponse* response) override;
  grpc::ServerUnaryReactor* GetStats(grpc::CallbackServerContext* context,
                                     const v1::GetStatsRequest* request,
                                     v1::GetStatsResponse* response) override;
  grpc::ServerWriteReactor<v1::FollowResponse>* Follow(grpc::CallbackServerContext* context,
                                                       const v1::FollowRequest* request) override;
  grpc::ServerUnaryReactor* GetDensity(grpc::CallbackServerContext* context,
                                       const v1::GetDensityRequest* request,
                                       v1::GetDensityResponse* response) override;
  grpc::ServerUnaryReactor* GetTiles(grpc::CallbackServerContext* context,
                                     const v1::GetTilesRequest* request,
                                     v1::GetTilesResponse* response) override;
  grpc::ServerUnaryReactor* DeleteSession(grpc::CallbackServerContext* context,
                                          const v1::DeleteSessionRequest* request,
                                          v1::DeleteSessionResponse* response) override;

 private:
  StoreReader store_;
  rpc::WorkerPool streams_;
  rpc::WorkerPool calls_;
};

}  // namespace nanolane::query
