#include "services/query/session_events.h"

#include <utility>

#include "libs/base/status_macros.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/model.h"
#include "libs/trace/wire.h"

namespace nanolane::query {

absl::StatusOr<const trace::Dictionary*> NameTables::Of(uint64_t epoch,
                                                        const trace::DictionaryNeeds& needs) {
  trace::Dictionary& table = tables_[epoch];
  const trace::DictionarySizes have = table.sizes();
  if (needs.strings <= have.strings && needs.ops <= have.ops) return &table;
  trace::DictionarySizes need = have;
  need.strings = std::max(need.strings, needs.strings);
  need.ops = std::max(need.ops, needs.ops);
  absl::Status status;
  RETURN_IF_ERROR(store_.ReadDictionary(session_id_, epoch, have, need, [&](DictionaryDelta delta) {
    status = table.Apply(trace::FromProto(delta));
    return status.ok();
  }));
  RETURN_IF_ERROR(status);
  return &table;
}

absl::Status VisitEvents(const std::string& session_id, const TimeRange* window, StoreReader& store,
                         const std::function<bool()>& stop,
                         const std::function<absl::Status(const DecodedBlock&)>& visit) {
  NameTables names(session_id, store);
  absl::Status status;
  const auto visit_block = [&](const StoredBlock& block) -> absl::Status {
    ASSIGN_OR_RETURN(const trace::BlockHeader header, trace::ReadBlockHeader(block.data()));
    ASSIGN_OR_RETURN(const trace::Dictionary* table, names.Of(block.epoch(), header.needs));
    trace::EventColumns events;
    RETURN_IF_ERROR(trace::DecodeBlock(block.data(), trace::ColumnSet::Timeline(), events));
    return visit(
        {.lane_id = block.lane_id(), .epoch = block.epoch(), .events = &events, .names = table});
  };
  const BlockQuery query = {
      .session_id = session_id, .lane_ids = {}, .window = window, .with_data = true};
  RETURN_IF_ERROR(store.ReadBlocks(query, [&](const StoredBlock& block) {
    status = stop() ? absl::CancelledError("the client has gone") : visit_block(block);
    return status.ok();
  }));
  return status;
}

bool Overlaps(int64_t start_ns, int64_t duration_ns, const TimeRange* window) {
  if (window == nullptr) return true;
  if (start_ns >= window->end_ns()) return false;
  return start_ns >= window->start_ns() || trace::EndOf(start_ns, duration_ns) > window->start_ns();
}

}  // namespace nanolane::query
