// StoreService over gRPC: any Store behind it. Reads run on a worker pool, appends go to the
// committer. Thread-safe.
#pragma once

#include "libs/rpc/worker_pool.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "services/store/committer.h"
#include "services/store/store.h"

namespace nanolane::store {

class StoreService final : public v1::StoreService::CallbackService {
 public:
  // `store` and `committer` (over the same store) outlive the service, the service its server.
  StoreService(Store& store, Committer& committer);

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
  grpc::ServerUnaryReactor* DeleteSession(grpc::CallbackServerContext* context,
                                          const v1::DeleteSessionRequest* request,
                                          v1::DeleteSessionResponse* response) override;

 private:
  Store& store_;
  Committer& committer_;
  rpc::WorkerPool pool_;
};

}  // namespace nanolane::store
