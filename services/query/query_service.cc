#include "services/query/query_service.h"

#include <utility>

#include "libs/base/status_macros.h"
#include "libs/rpc/handlers.h"
#include "services/query/density.h"
#include "services/query/follow_relay.h"
#include "services/query/lanes.h"
#include "services/query/scope.h"
#include "services/query/search.h"
#include "services/query/stats.h"
#include "services/query/tiles.h"
#include "services/query/timeline_stream.h"

namespace nanolane::query {
namespace {

// Streams have threads of their own: viewers that read slowly must not keep calls from an answer.
constexpr size_t kStreams = 64;
constexpr size_t kCalls = 8;
constexpr size_t kWaitingCalls = 256;

}  // namespace

QueryService::QueryService(const std::shared_ptr<grpc::Channel>& store)
    : store_(store), streams_(kStreams, kStreams), calls_(kCalls, kWaitingCalls) {}

grpc::ServerUnaryReactor* QueryService::ListSessions(grpc::CallbackServerContext* context,
                                                     const v1::ListSessionsRequest* request,
                                                     v1::ListSessionsResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this] {
    return rpc::Fill(query::ListSessions(*request, store_), *response);
  });
}

grpc::ServerUnaryReactor* QueryService::ListLanes(grpc::CallbackServerContext* context,
                                                  const v1::ListLanesRequest* request,
                                                  v1::ListLanesResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this]() -> absl::Status {
    ASSIGN_OR_RETURN(const auto sessions, SelectSessions(request->scope(), store_));
    for (const SessionSummary& summary : sessions) {
      ASSIGN_OR_RETURN(auto lanes, LanesOf(summary.session().session_id(), store_));
      for (v1::LaneInfo& lane : lanes) *response->add_lanes() = std::move(lane);
    }
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::StreamTimelineResponse>* QueryService::StreamTimeline(
    grpc::CallbackServerContext* /*context*/, const v1::StreamTimelineRequest* request) {
  return rpc::ProducerStream<v1::StreamTimelineResponse>::Start(
      streams_, [this, request = *request](rpc::StreamWriter<v1::StreamTimelineResponse>& writer) {
        return query::StreamTimeline(request, store_, writer);
      });
}

grpc::ServerUnaryReactor* QueryService::Search(grpc::CallbackServerContext* context,
                                               const v1::SearchRequest* request,
                                               v1::SearchResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this] {
    return rpc::Fill(query::Search(*request, store_, [context] { return context->IsCancelled(); }),
                     *response);
  });
}

grpc::ServerUnaryReactor* QueryService::GetStats(grpc::CallbackServerContext* context,
                                                 const v1::GetStatsRequest* request,
                                                 v1::GetStatsResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this] {
    return rpc::Fill(
        query::GetStats(*request, store_, [context] { return context->IsCancelled(); }), *response);
  });
}

grpc::ServerWriteReactor<v1::FollowResponse>* QueryService::Follow(
    grpc::CallbackServerContext* /*context*/, const v1::FollowRequest* request) {
  return StartFollow(store_.stub(), *request);
}

grpc::ServerUnaryReactor* QueryService::GetDensity(grpc::CallbackServerContext* context,
                                                   const v1::GetDensityRequest* request,
                                                   v1::GetDensityResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this] {
    return rpc::Fill(query::GetDensity(*request, store_), *response);
  });
}

grpc::ServerUnaryReactor* QueryService::GetTiles(grpc::CallbackServerContext* context,
                                                 const v1::GetTilesRequest* request,
                                                 v1::GetTilesResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this] {
    return rpc::Fill(query::GetTiles(*request, store_), *response);
  });
}

grpc::ServerUnaryReactor* QueryService::DeleteSession(grpc::CallbackServerContext* context,
                                                      const v1::DeleteSessionRequest* request,
                                                      v1::DeleteSessionResponse* /*response*/) {
  return rpc::RunUnary(calls_, *context,
                       [=, this] { return store_.DeleteSession(request->session_id()); });
}

}  // namespace nanolane::query
