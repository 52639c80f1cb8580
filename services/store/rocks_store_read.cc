// Reads of the RocksDB store. Each takes one snapshot.
#include <algorithm>
#include <tuple>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/store/keys.h"
#include "services/store/paging.h"
#include "services/store/rocks_read.h"
#include "services/store/rocks_status.h"
#include "services/store/rocks_store.h"

namespace nanolane::store {

absl::StatusOr<v1::ListSessionsResponse> RocksStore::ListSessions(
    const v1::ListSessionsRequest& request) {
  ASSIGN_OR_RETURN(const PageStart start, ParsePageToken(request.page_token()));
  const Snapshot snapshot(db_->db());
  rocksdb::ReadOptions in_order = snapshot.options();  // times are no prefixes
  in_order.prefix_same_as_start = false;
  in_order.total_order_seek = true;
  v1::ListSessionsResponse response;
  const std::unique_ptr<rocksdb::Iterator> at = db_->Iterate(in_order, Family::kByTime);
  const std::string from = TimeKey(start.created_unix_ns, SessionKey(start.session_id));
  for (at->Seek(from); at->Valid(); at->Next()) {
    const std::string id = SessionIdOf(SessionKeyOfTimeKey(at->key().ToStringView()));
    ASSIGN_OR_RETURN(v1::SessionRecord record, ReadRecord(*db_, snapshot.options(), id));
    SessionSummary& summary = *record.mutable_summary();
    if (!Matches(summary, request)) continue;
    if (response.sessions_size() == PageSize(request.page_size())) {
      response.set_next_page_token(PageStart::Of(summary).Token());
      break;
    }
    *response.add_sessions() = std::move(summary);
  }
  RETURN_IF_ERROR(FromRocks(at->status(), "listing sessions"));
  return response;
}

absl::StatusOr<v1::GetSessionResponse> RocksStore::GetSession(const std::string& session_id) {
  const Snapshot snapshot(db_->db());
  ASSIGN_OR_RETURN(v1::SessionRecord record, ReadRecord(*db_, snapshot.options(), session_id));
  v1::GetSessionResponse response;
  response.mutable_summary()->Swap(record.mutable_summary());
  RETURN_IF_ERROR(db_->Visit(snapshot.options(), Family::kEpochs, SessionKey(session_id),
                             [&](std::string_view key, std::string_view) {
                               response.add_epochs(EpochOf(key));
                               return true;
                             }));
  return response;
}

absl::StatusOr<v1::ListLanesResponse> RocksStore::ListLanes(const std::string& session_id) {
  const Snapshot snapshot(db_->db());
  RETURN_IF_ERROR(ReadRecord(*db_, snapshot.options(), session_id).status());
  ASSIGN_OR_RETURN(const std::vector<v1::StoredLane> lanes,
                   ReadLanes(*db_, snapshot.options(), SessionKey(session_id)));
  v1::ListLanesResponse response;
  for (const v1::StoredLane& lane : lanes) *response.add_lanes() = lane;
  return response;
}

absl::Status RocksStore::ReadBlocks(const v1::ReadBlocksRequest& request,
                                    const SelectionVisitor& selected, const BlockVisitor& visit) {
  const Snapshot snapshot(db_->db());
  const std::string session_key = SessionKey(request.session_id());
  RETURN_IF_ERROR(ReadRecord(*db_, snapshot.options(), request.session_id()).status());
  std::vector<uint32_t> lanes(request.lane_ids().begin(), request.lane_ids().end());
  if (lanes.empty()) {
    ASSIGN_OR_RETURN(const std::vector<v1::StoredLane> all,
                     ReadLanes(*db_, snapshot.options(), session_key));
    for (const v1::StoredLane& lane : all) lanes.push_back(lane.lane_id());
  }
  // The index of a window is small (some 100 bytes a block): it is read whole and sorted, so that
  // lanes come by turns.
  std::vector<IndexedBlock> found;
  for (const uint32_t lane : lanes) {
    RETURN_IF_ERROR(ReadIndex(*db_, snapshot.options(), session_key, lane,
                              request.has_window() ? &request.window() : nullptr, found));
  }
  std::stable_sort(found.begin(), found.end(), [](const IndexedBlock& a, const IndexedBlock& b) {
    return std::make_tuple(a.key.start_ns, a.key.lane_id) <
           std::make_tuple(b.key.start_ns, b.key.lane_id);
  });
  uint64_t events = 0;
  for (const IndexedBlock& entry : found) events += entry.block.events();
  selected(events);
  for (IndexedBlock& entry : found) {
    if (request.with_data()) {
      RETURN_IF_ERROR(ReadBlockData(*db_, snapshot.options(), session_key, entry.key,
                                    *entry.block.mutable_data()));
    }
    if (!visit(std::move(entry.block))) break;
  }
  return absl::OkStatus();
}

absl::Status RocksStore::ReadDictionary(const std::string& session_id, const DictionaryRange& range,
                                        const DictionaryVisitor& visit) {
  const Snapshot snapshot(db_->db());
  RETURN_IF_ERROR(ReadRecord(*db_, snapshot.options(), session_id).status());
  return ReadDictionaryRange(*db_, snapshot.options(), SessionKey(session_id), range, visit);
}

}  // namespace nanolane::store
