#include "tests/live_capture/support/recorded_session.h"

#include <algorithm>
#include <unordered_map>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/wire.h"

namespace nanolane::testing {
namespace {

namespace store_v1 = nanolane::store::v1;

constexpr std::chrono::seconds kPatience(60);

using OpsOfEpoch = std::unordered_map<trace::OpId, const RecordedOp*>;

absl::StatusOr<trace::Dictionary> ReadDictionary(store_v1::StoreService::Stub& store,
                                                 const std::string& session_id, uint64_t epoch) {
  grpc::ClientContext context;
  rpc::SetDeadline(context, kPatience);
  store_v1::ReadDictionaryRequest request;
  request.set_session_id(session_id);
  request.set_epoch(epoch);
  const auto stream = store.ReadDictionary(&context, request);
  trace::Dictionary dictionary;
  store_v1::ReadDictionaryResponse response;
  while (stream->Read(&response)) {
    RETURN_IF_ERROR(dictionary.Apply(trace::FromProto(response.delta())));
  }
  RETURN_IF_ERROR(rpc::FromGrpc(stream->Finish()));
  return dictionary;
}

OpsOfEpoch ResolveOps(const trace::Dictionary& dictionary, RecordedSession& session) {
  OpsOfEpoch ops;
  for (trace::OpId id = 1; id <= dictionary.op_count(); ++id) {
    RecordedOp& op = session.ops.emplace_back();
    op.op = dictionary.OpOf(id);
    op.name = dictionary.OpName(id);
    for (const auto& [key, value] : op.op.attributes) {
      op.attributes[dictionary.String(key)] = dictionary.String(value);
    }
    ops[id] = &op;
  }
  return ops;
}

absl::Status ReadEvents(store_v1::StoreService::Stub& store, const std::string& session_id,
                        RecordedSession& session) {
  std::map<uint64_t, OpsOfEpoch> ops;
  for (const uint64_t epoch : session.epochs) {
    ASSIGN_OR_RETURN(const trace::Dictionary dictionary, ReadDictionary(store, session_id, epoch));
    ops[epoch] = ResolveOps(dictionary, session);
  }
  std::map<uint32_t, const trace::Lane*> lanes;
  {
    grpc::ClientContext context;
    rpc::SetDeadline(context, kPatience);
    store_v1::ListLanesRequest request;
    request.set_session_id(session_id);
    store_v1::ListLanesResponse response;
    RETURN_IF_ERROR(rpc::FromGrpc(store.ListLanes(&context, request, &response)));
    for (const auto& lane : response.lanes()) {
      lanes[lane.lane_id()] = &session.lanes.emplace_back(trace::FromProto(lane.lane()));
    }
  }
  grpc::ClientContext context;
  rpc::SetDeadline(context, kPatience);
  store_v1::ReadBlocksRequest request;
  request.set_session_id(session_id);
  request.set_with_data(true);
  const auto stream = store.ReadBlocks(&context, request);
  store_v1::ReadBlocksResponse response;
  while (stream->Read(&response)) {
    for (const auto& block : response.blocks()) {
      trace::EventColumns columns;
      RETURN_IF_ERROR(trace::DecodeBlock(block.data(), trace::ColumnSet::All(), columns));
      for (size_t i = 0; i < columns.size(); ++i) {
        const trace::Event event = columns.At(i);
        const OpsOfEpoch& names = ops[block.epoch()];
        const auto op = names.find(event.op);
        if (op == names.end() || lanes[block.lane_id()] == nullptr) {
          return absl::DataLossError("an event without its op or lane");
        }
        session.events.push_back({event, op->second, lanes[block.lane_id()]});
      }
    }
  }
  return rpc::FromGrpc(stream->Finish());
}

}  // namespace

std::string RecordedSession::Label(const std::string& name) const {
  const auto& labels = session().labels();
  const auto found = labels.find(name);
  return found == labels.end() ? "" : found->second;
}

std::string RecordedSession::notes() const {
  std::string notes;
  for (const auto& [name, value] : session().labels()) {
    if (name.starts_with("capture.note.")) notes += value + "\n";
  }
  return notes;
}

size_t RecordedSession::Count(trace::EventKind kind) const {
  return static_cast<size_t>(std::count_if(
      events.begin(), events.end(),
      [kind](const RecordedEvent& recorded) { return recorded.op->op.kind == kind; }));
}

uint64_t RecordedSession::Lost(trace::EventKind kind, const std::string& reason) const {
  uint64_t lost = 0;
  for (const auto& loss : session().losses()) {
    if (trace::FromProto(loss.kind()) != kind) continue;
    if (loss.reason().find(reason) != std::string::npos) lost += loss.count();
  }
  return lost;
}

std::string RecordedSession::Losses() const {
  std::string text;
  for (const auto& loss : session().losses()) {
    text += base::StrCat(trace::ToString(trace::FromProto(loss.kind())), ": ", loss.reason(), ": ",
                         loss.count(), "\n");
  }
  return text;
}

absl::StatusOr<RecordedSession> ReadSession(store_v1::StoreService::Stub& store,
                                            const std::string& session_id, bool with_events) {
  RecordedSession session;
  grpc::ClientContext context;
  rpc::SetDeadline(context, kPatience);
  store_v1::GetSessionRequest request;
  request.set_session_id(session_id);
  store_v1::GetSessionResponse response;
  RETURN_IF_ERROR(rpc::FromGrpc(store.GetSession(&context, request, &response)));
  session.summary = response.summary();
  session.epochs.assign(response.epochs().begin(), response.epochs().end());
  if (with_events) RETURN_IF_ERROR(ReadEvents(store, session_id, session));
  return session;
}

}  // namespace nanolane::testing
