#include "services/collector/delivery/stored_sequence.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>

#include "libs/base/status_macros.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"

namespace nanolane::collector {
namespace {

namespace store_v1 = nanolane::store::v1;

// Sends the epoch's first request again, without its data: a store that has it drops that as a
// duplicate, which changes nothing, and says in its first response how far the epoch goes.
absl::StatusOr<uint64_t> AskStore(store_v1::StoreService::StubInterface& store,
                                  const std::string& session_id, uint64_t epoch) {
  store_v1::GetSessionResponse known;
  {
    grpc::ClientContext context;
    rpc::SetDeadline(context);
    store_v1::GetSessionRequest request;
    request.set_session_id(session_id);
    const absl::Status status = rpc::FromGrpc(store.GetSession(&context, request, &known));
    if (absl::IsNotFound(status)) return 0;
    RETURN_IF_ERROR(status);
  }
  // Only an epoch that has written something is listed: its first request is there.
  const auto& epochs = known.epochs();
  if (std::find(epochs.begin(), epochs.end(), epoch) == epochs.end()) return 0;
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  store_v1::AppendRequest probe;
  *probe.mutable_session() = known.summary().session();
  probe.set_epoch(epoch);
  probe.set_sequence(1);
  const auto stream = store.Append(&context);
  stream->Write(probe);
  stream->WritesDone();
  uint64_t sequence = 0;
  store_v1::AppendResponse response;
  while (stream->Read(&response)) sequence = std::max(sequence, response.acknowledged_sequence());
  RETURN_IF_ERROR(rpc::FromGrpc(stream->Finish()));
  return sequence;
}

}  // namespace

absl::StatusOr<uint64_t> StoredSequence(const Spool& spool,
                                        store_v1::StoreService::StubInterface& store,
                                        const std::string& session_id, uint64_t epoch) {
  const auto held = spool.HeldOf(session_id, epoch);
  // While requests pass through the spool, the store has none that the spool had not first.
  if (held && !held->open_end) return held->last_sequence;
  const absl::StatusOr<uint64_t> stored = AskStore(store, session_id, epoch);
  if (!stored.ok()) {
    const bool retry = !absl::IsInvalidArgument(stored.status());
    return retry ? absl::UnavailableError(stored.status().message()) : stored.status();
  }
  return std::max(*stored, held ? held->last_sequence : 0);
}

}  // namespace nanolane::collector
