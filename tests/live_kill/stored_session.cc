#include "tests/live_kill/stored_session.h"

#include <chrono>
#include <map>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"

namespace nanolane::testing {
namespace {

absl::StatusOr<trace::Dictionary> ReadDictionary(store::v1::StoreService::StubInterface& store,
                                                 const std::string& session_id, uint64_t epoch) {
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  store::v1::ReadDictionaryRequest request;
  request.set_session_id(session_id);
  request.set_epoch(epoch);
  const auto stream = store.ReadDictionary(&context, request);
  trace::Dictionary dictionary;
  store::v1::ReadDictionaryResponse response;
  while (stream->Read(&response)) {
    RETURN_IF_ERROR(dictionary.Apply(trace::FromProto(response.delta())));
  }
  RETURN_IF_ERROR(rpc::FromGrpc(stream->Finish()));
  return dictionary;
}

absl::Status AddBlock(const store::v1::StoredBlock& block, const trace::Dictionary& names,
                      StoredSession& session) {
  trace::EventColumns columns;
  RETURN_IF_ERROR(trace::DecodeBlock(block.data(), trace::ColumnSet::All(), columns));
  for (size_t i = 0; i < columns.size(); ++i) {
    const trace::Event event = columns.At(i);
    session.events.push_back({.event = event,
                              .epoch = block.epoch(),
                              .kind = names.OpOf(event.op).kind,
                              .name = names.OpName(event.op)});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StoredSession> ReadStored(store::v1::StoreService::StubInterface& store,
                                         const std::string& session_id) {
  StoredSession session;
  {
    grpc::ClientContext context;
    rpc::SetDeadline(context);
    store::v1::GetSessionRequest request;
    request.set_session_id(session_id);
    store::v1::GetSessionResponse response;
    RETURN_IF_ERROR(rpc::FromGrpc(store.GetSession(&context, request, &response)));
    session.summary = response.summary();
    session.epochs.assign(response.epochs().begin(), response.epochs().end());
  }
  std::map<uint64_t, trace::Dictionary> dictionaries;
  for (const uint64_t epoch : session.epochs) {
    ASSIGN_OR_RETURN(dictionaries[epoch], ReadDictionary(store, session_id, epoch));
  }
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  store::v1::ReadBlocksRequest request;
  request.set_session_id(session_id);
  request.set_with_data(true);
  const auto stream = store.ReadBlocks(&context, request);
  store::v1::ReadBlocksResponse response;
  while (stream->Read(&response)) {
    for (const auto& block : response.blocks()) {
      RETURN_IF_ERROR(AddBlock(block, dictionaries[block.epoch()], session));
    }
  }
  RETURN_IF_ERROR(rpc::FromGrpc(stream->Finish()));
  return session;
}

absl::Status AwaitEnded(store::v1::StoreService::StubInterface& store,
                        const std::string& session_id, std::chrono::milliseconds patience) {
  grpc::ClientContext context;
  rpc::SetDeadline(context, patience);
  store::v1::FollowRequest request;
  request.set_session_id(session_id);
  const auto stream = store.Follow(&context, request);
  store::v1::FollowResponse response;
  bool ended = false;
  while (!ended && stream->Read(&response)) {
    ended = response.has_summary() && response.summary().session().ended();
  }
  if (ended) context.TryCancel();
  const absl::Status status = rpc::FromGrpc(stream->Finish());
  if (ended) return absl::OkStatus();
  return status.ok() ? absl::InternalError("the store stopped telling of the session") : status;
}

}  // namespace nanolane::testing
