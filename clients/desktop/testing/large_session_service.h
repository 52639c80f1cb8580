// A query service in this process on a free port, with one session of which it answers everything
// that is asked about a session too large to be loaded: its lanes, pixel columns, and the events of
// a window.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "clients/desktop/testing/session_builder.h"
#include "grpcpp/grpcpp.h"
#include "nanolane/query/v1/query.grpc.pb.h"

namespace nanolane::desktop {

class LargeSessionService final : public query::v1::QueryService::Service {
 public:
  explicit LargeSessionService(const SessionBuilder& session);
  ~LargeSessionService() override;

  std::shared_ptr<grpc::Channel> channel() const;
  // Answers to GetTiles that fail from here on.
  void set_tiles_fail(bool fail) { tiles_fail_ = fail; }
  int tile_answers() const { return tile_answers_; }
  int streams() const { return streams_; }

 private:
  grpc::Status ListSessions(grpc::ServerContext* context,
                            const query::v1::ListSessionsRequest* request,
                            query::v1::ListSessionsResponse* response) override;
  grpc::Status ListLanes(grpc::ServerContext* context, const query::v1::ListLanesRequest* request,
                         query::v1::ListLanesResponse* response) override;
  grpc::Status GetTiles(grpc::ServerContext* context, const query::v1::GetTilesRequest* request,
                        query::v1::GetTilesResponse* response) override;
  grpc::Status StreamTimeline(
      grpc::ServerContext* context, const query::v1::StreamTimelineRequest* request,
      grpc::ServerWriter<query::v1::StreamTimelineResponse>* writer) override;

  const SessionBuilder& session_;
  std::atomic<bool> tiles_fail_{false};
  std::atomic<int> tile_answers_{0};
  std::atomic<int> streams_{0};
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace nanolane::desktop
