#include "services/query/store_reader.h"

#include <algorithm>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"

namespace nanolane::query {

namespace store_v1 = nanolane::store::v1;

StoreReader::StoreReader(const std::shared_ptr<grpc::Channel>& channel)
    : store_(store_v1::StoreService::NewStub(channel)) {}

absl::StatusOr<store_v1::ListSessionsResponse> StoreReader::ListSessions(
    const store_v1::ListSessionsRequest& request) {
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  store_v1::ListSessionsResponse response;
  RETURN_IF_ERROR(rpc::FromGrpc(store_->ListSessions(&context, request, &response)));
  return response;
}

absl::StatusOr<SessionSummary> StoreReader::GetSession(const std::string& session_id) {
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  store_v1::GetSessionRequest request;
  request.set_session_id(session_id);
  store_v1::GetSessionResponse response;
  RETURN_IF_ERROR(rpc::FromGrpc(store_->GetSession(&context, request, &response)));
  return std::move(*response.mutable_summary());
}

absl::StatusOr<std::vector<StoredLane>> StoreReader::ListLanes(const std::string& session_id) {
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  store_v1::ListLanesRequest request;
  request.set_session_id(session_id);
  store_v1::ListLanesResponse response;
  RETURN_IF_ERROR(rpc::FromGrpc(store_->ListLanes(&context, request, &response)));
  return std::vector<StoredLane>(response.lanes().begin(), response.lanes().end());
}

absl::StatusOr<store_v1::GetDensityResponse> StoreReader::GetDensity(
    const store_v1::GetDensityRequest& request) {
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  store_v1::GetDensityResponse response;
  RETURN_IF_ERROR(rpc::FromGrpc(store_->GetDensity(&context, request, &response)));
  return response;
}

absl::StatusOr<store_v1::GetTilesResponse> StoreReader::GetTiles(
    const store_v1::GetTilesRequest& request) {
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  store_v1::GetTilesResponse response;
  RETURN_IF_ERROR(rpc::FromGrpc(store_->GetTiles(&context, request, &response)));
  return response;
}

absl::Status StoreReader::DeleteSession(const std::string& session_id) {
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  store_v1::DeleteSessionRequest request;
  request.set_session_id(session_id);
  store_v1::DeleteSessionResponse response;
  return rpc::FromGrpc(store_->DeleteSession(&context, request, &response));
}

absl::Status StoreReader::ReadBlocks(const BlockQuery& query,
                                     const std::function<void(uint64_t)>& selected,
                                     const std::function<bool(StoredBlock)>& visit) {
  grpc::ClientContext context;
  store_v1::ReadBlocksRequest request;
  request.set_session_id(query.session_id);
  for (const uint32_t lane : query.lane_ids) request.add_lane_ids(lane);
  if (query.window != nullptr) *request.mutable_window() = *query.window;
  request.set_with_data(query.with_data);
  const auto stream = store_->ReadBlocks(&context, request);
  store_v1::ReadBlocksResponse message;
  bool first = true;
  while (stream->Read(&message)) {
    if (std::exchange(first, false)) selected(message.selected_events());
    for (StoredBlock& block : *message.mutable_blocks()) {
      if (visit(std::move(block))) continue;
      context.TryCancel();
      static_cast<void>(stream->Finish());  // cancelled by us: not an error
      return absl::OkStatus();
    }
  }
  return rpc::FromGrpc(stream->Finish());
}

absl::Status StoreReader::ReadDictionary(const std::string& session_id, uint64_t epoch,
                                         const trace::DictionarySizes& have,
                                         const trace::DictionarySizes& need,
                                         const std::function<bool(DictionaryDelta)>& visit) {
  const auto set_sizes = [](const trace::DictionarySizes& from, store_v1::DictionarySizes& to) {
    to.set_strings(from.strings);
    to.set_frames(from.frames);
    to.set_stacks(from.stacks);
    to.set_ops(from.ops);
  };
  grpc::ClientContext context;
  store_v1::ReadDictionaryRequest request;
  request.set_session_id(session_id);
  request.set_epoch(epoch);
  set_sizes(have, *request.mutable_have());
  set_sizes(need, *request.mutable_need());
  const auto stream = store_->ReadDictionary(&context, request);
  store_v1::ReadDictionaryResponse message;
  while (stream->Read(&message)) {
    if (visit(std::move(*message.mutable_delta()))) continue;
    context.TryCancel();
    static_cast<void>(stream->Finish());
    return absl::OkStatus();
  }
  return rpc::FromGrpc(stream->Finish());
}

}  // namespace nanolane::query
