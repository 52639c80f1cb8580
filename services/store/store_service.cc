#include "services/store/store_service.h"

#include <utility>

#include "libs/base/status_macros.h"
#include "libs/rpc/handlers.h"
#include "services/store/append_stream.h"
#include "services/store/dictionary_sizes.h"

namespace nanolane::store {
namespace {

constexpr size_t kCalls = 8;
constexpr size_t kWaitingCalls = 256;
// Streams of blocks that are read at once: more than a query service has readers. One that waits
// for its reader holds its worker, so that a queue behind them would wait for the slowest.
constexpr size_t kStreams = 128;
constexpr size_t kTiles = 2;
constexpr size_t kWaitingTiles = 64;
// Messages start small, so that the first one leaves at once, and grow to amortize.
constexpr size_t kFirstMessageBytes = 32 << 10;
constexpr size_t kMessageBytes = 512 << 10;
constexpr int kMessageBlocks = 4'096;  // where blocks come without their data

using rpc::StreamWriter;

// Gathers blocks into messages.
class BlockBatches {
 public:
  explicit BlockBatches(StreamWriter<v1::ReadBlocksResponse>& writer) : writer_(writer) {}

  void Select(uint64_t events) { message_.set_selected_events(events); }

  bool Add(v1::StoredBlock block) {
    bytes_ += block.data().size();
    *message_.add_blocks() = std::move(block);
    return bytes_ < limit_ && message_.blocks_size() < kMessageBlocks ? !writer_.cancelled()
                                                                      : Flush();
  }

  bool Flush() {
    if (message_.blocks_size() == 0) return true;
    bytes_ = 0;
    limit_ = kMessageBytes;
    return writer_.Write(std::exchange(message_, {}));
  }

 private:
  StreamWriter<v1::ReadBlocksResponse>& writer_;
  v1::ReadBlocksResponse message_;
  size_t bytes_ = 0;
  size_t limit_ = kFirstMessageBytes;
};

DictionaryRange RangeOf(const v1::ReadDictionaryRequest& request) {
  return {.epoch = request.epoch(),
          .have = FromProto(request.have()),
          .need = request.has_need() ? FromProto(request.need()) : DictionaryRange::kAllEntries};
}

}  // namespace

StoreService::StoreService(StoreEngine& engine)
    : engine_(engine),
      calls_(kCalls, kWaitingCalls),
      streams_(kStreams, 1),
      tiles_(kTiles, kWaitingTiles) {}

grpc::ServerBidiReactor<v1::AppendRequest, v1::AppendResponse>* StoreService::Append(
    grpc::CallbackServerContext* /*context*/) {
  return new AppendStream(engine_.committer());
}

grpc::ServerUnaryReactor* StoreService::ListSessions(grpc::CallbackServerContext* context,
                                                     const v1::ListSessionsRequest* request,
                                                     v1::ListSessionsResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this] {
    return rpc::Fill(engine_.store().ListSessions(*request), *response);
  });
}

grpc::ServerUnaryReactor* StoreService::GetSession(grpc::CallbackServerContext* context,
                                                   const v1::GetSessionRequest* request,
                                                   v1::GetSessionResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this]() -> absl::Status {
    RETURN_IF_ERROR(CheckSessionId(request->session_id()));
    return rpc::Fill(engine_.store().GetSession(request->session_id()), *response);
  });
}

grpc::ServerUnaryReactor* StoreService::ListLanes(grpc::CallbackServerContext* context,
                                                  const v1::ListLanesRequest* request,
                                                  v1::ListLanesResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this]() -> absl::Status {
    RETURN_IF_ERROR(CheckSessionId(request->session_id()));
    return rpc::Fill(engine_.store().ListLanes(request->session_id()), *response);
  });
}

grpc::ServerWriteReactor<v1::ReadBlocksResponse>* StoreService::ReadBlocks(
    grpc::CallbackServerContext* /*context*/, const v1::ReadBlocksRequest* request) {
  const auto producer =
      [this, request = *request](StreamWriter<v1::ReadBlocksResponse>& writer) -> absl::Status {
    RETURN_IF_ERROR(CheckSessionId(request.session_id()));
    BlockBatches batches(writer);
    RETURN_IF_ERROR(engine_.store().ReadBlocks(
        request, [&](uint64_t events) { batches.Select(events); },
        [&](v1::StoredBlock block) { return batches.Add(std::move(block)); }));
    static_cast<void>(batches.Flush());
    return absl::OkStatus();
  };
  return rpc::ProducerStream<v1::ReadBlocksResponse>::Start(streams_, producer);
}

grpc::ServerWriteReactor<v1::ReadDictionaryResponse>* StoreService::ReadDictionary(
    grpc::CallbackServerContext* /*context*/, const v1::ReadDictionaryRequest* request) {
  const auto producer =
      [this, request = *request](StreamWriter<v1::ReadDictionaryResponse>& writer) -> absl::Status {
    RETURN_IF_ERROR(CheckSessionId(request.session_id()));
    return engine_.store().ReadDictionary(request.session_id(), RangeOf(request),
                                          [&](DictionaryDelta delta) {
                                            v1::ReadDictionaryResponse message;
                                            message.mutable_delta()->Swap(&delta);
                                            return writer.Write(std::move(message));
                                          });
  };
  return rpc::ProducerStream<v1::ReadDictionaryResponse>::Start(calls_, producer);
}

grpc::ServerWriteReactor<v1::FollowResponse>* StoreService::Follow(
    grpc::CallbackServerContext* /*context*/, const v1::FollowRequest* request) {
  return engine_.followers().Follow(*request);
}

grpc::ServerUnaryReactor* StoreService::GetDensity(grpc::CallbackServerContext* context,
                                                   const v1::GetDensityRequest* request,
                                                   v1::GetDensityResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this] {
    return rpc::Fill(engine_.store().GetDensity(*request), *response);
  });
}

grpc::ServerUnaryReactor* StoreService::GetTiles(grpc::CallbackServerContext* context,
                                                 const v1::GetTilesRequest* request,
                                                 v1::GetTilesResponse* response) {
  return rpc::RunUnary(tiles_, *context, [=, this]() -> absl::Status {
    RETURN_IF_ERROR(CheckSessionId(request->session_id()));
    return rpc::Fill(
        engine_.store().GetTiles(*request, [context] { return context->IsCancelled(); }),
        *response);
  });
}

grpc::ServerUnaryReactor* StoreService::CreateCheckpoint(grpc::CallbackServerContext* context,
                                                         const v1::CreateCheckpointRequest* request,
                                                         v1::CreateCheckpointResponse* response) {
  return rpc::RunUnary(calls_, *context, [=, this]() -> absl::Status {
    ASSIGN_OR_RETURN(*response->mutable_path(), engine_.store().CreateCheckpoint(request->name()));
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* StoreService::DeleteSession(grpc::CallbackServerContext* context,
                                                      const v1::DeleteSessionRequest* request,
                                                      v1::DeleteSessionResponse* /*response*/) {
  return rpc::RunUnary(calls_, *context, [=, this]() -> absl::Status {
    RETURN_IF_ERROR(CheckSessionId(request->session_id()));
    return store::DeleteSession(engine_.store(), engine_.committer(), request->session_id());
  });
}

}  // namespace nanolane::store
