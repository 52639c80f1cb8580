// StoreService over gRPC. Appends go to the committer, followers to their hub; other reads run on
// workers: calls that end soon, streams that last as long as their reader wants, and tiles, which
// compute, each have their own, so that none of them starves another. Thread-safe.
#pragma once

#include "libs/rpc/worker_pool.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "services/store/store_engine.h"

namespace nanolane::store {

class StoreService final : public v1::StoreService::CallbackService {
 public:
  // The engine outlives the service, the service its server.
  explicit StoreService(StoreEngine& engine);

  grpc::ServerBidiReactor<v1::AppendRequest, v1::AppendResponse>* Append(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* ListSessions(grpc::CallbackServerContext* context,
                                         const v1::ListSessionsRequest* request,
                                         v1::ListSessionsResponse* response) override;
  grpc::ServerUnaryReactor* GetSession(grpc::CallbackServerContext* context,
                                       const v1::GetSessionRequest* request,
                                       v1::GetSessionResponse* response) override;
  grpc::ServerUnaryReactor* ListLanes(grpc::CallbackServerContext* context,
                                      const v1::ListLanesRequest* request,
                                      v1::ListLanesResponse* response) override;
  grpc::ServerWriteReactor<v1::ReadBlocksResponse>* ReadBlocks(
      grpc::CallbackServerContext* context, const v1::ReadBlocksRequest* request) override;
  grpc::ServerWriteReactor<v1::ReadDictionaryResponse>* ReadDictionary(
      grpc::CallbackServerContext* context, const v1::ReadDictionaryRequest* request) override;
  grpc::ServerWriteReactor<v1::FollowResponse>* Follow(grpc::CallbackServerContext* context,
                                                       const v1::FollowRequest* request) override;
  grpc::ServerUnaryReactor* GetDensity(grpc::CallbackServerContext* context,
                                       const v1::GetDensityRequest* request,
                                       v1::GetDensityResponse* response) override;
  grpc::ServerUnaryReactor* GetTiles(grpc::CallbackServerContext* context,
                                     const v1::GetTilesRequest* request,
                                     v1::GetTilesResponse* response) override;
  grpc::ServerUnaryReactor* CreateCheckpoint(grpc::CallbackServerContext* context,
                                             const v1::CreateCheckpointRequest* request,
                                             v1::CreateCheckpointResponse* response) override;
  grpc::ServerUnaryReactor* DeleteSession(grpc::CallbackServerContext* context,
                                          const v1::DeleteSessionRequest* request,
                                          v1::DeleteSessionResponse* response) override;

 private:
  StoreEngine& engine_;
  rpc::WorkerPool calls_;
  rpc::WorkerPool streams_;
  rpc::WorkerPool tiles_;
};

}  // namespace nanolane::store
