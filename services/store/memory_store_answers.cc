// Density and tiles of the store in memory: a look at everything, for the contract suites to hold
// the RocksDB store against.
#include <map>
#include <vector>

#include "libs/base/status_macros.h"
#include "services/store/density_rows.h"
#include "services/store/memory_store.h"
#include "services/store/tile_answer.h"

namespace nanolane::store {

absl::StatusOr<v1::GetDensityResponse> MemoryStore::GetDensity(
    const v1::GetDensityRequest& request) {
  ASSIGN_OR_RETURN(DensityAnswer answer, DensityAnswer::Create(request));
  base::MutexLock lock(mutex_);
  std::vector<const SessionLedger*> ledgers;
  for (const std::string& id : request.session_ids()) {
    RETURN_IF_ERROR(CheckSessionId(id));
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) continue;
    ledgers.push_back(&found->second.ledger);
    ExpectExtent(found->second.ledger.record(), answer);
  }
  for (const SessionLedger* ledger : ledgers) {
    answer.Add(ledger->density().level(0), ledger->density().bins(0));
  }
  return answer.Finish();
}

absl::StatusOr<v1::GetTilesResponse> MemoryStore::GetTiles(const v1::GetTilesRequest& request,
                                                           const std::function<bool()>& /*stop*/) {
  RETURN_IF_ERROR(CheckTilesRequest(request));
  base::MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const Kept* kept, Find(request.session_id()));
  RETURN_IF_ERROR(CheckTilesSize(request, kept->ledger.lanes().size()));
  TileAnswer answer;
  for (const auto& [epoch, whole] : kept->dictionaries) answer.AddEpoch(epoch, LabelsOf(whole));
  LaneAnswer lanes(request, answer);
  for (const uint32_t lane_id : LanesToAnswer(request, kept->ledger.lanes().size())) {
    lanes.Begin(kept->ledger.lanes()[lane_id - 1]);
    for (const KeptBlock& block : kept->blocks) {
      if (!block.current || block.key.lane_id != lane_id) continue;
      RETURN_IF_ERROR(lanes.AddBlock(block.key.epoch, block.block.data()));
    }
    ASSIGN_OR_RETURN(const LaneColumns columns, lanes.Finish());
    answer.Add(columns);
  }
  return answer.Take();
}

}  // namespace nanolane::store
