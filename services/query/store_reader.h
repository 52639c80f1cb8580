// Reads of the store as the query service needs them: blocking calls over store.v1, errors as
// absl::Status. Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/trace/block_codec.h"
#include "libs/trace/dictionary.h"
#include "nanolane/query/v1/query.pb.h"
#include "nanolane/store/v1/store.grpc.pb.h"

namespace nanolane::query {

using nanolane::store::v1::StoredBlock;
using nanolane::store::v1::StoredLane;
using nanolane::trace::v1::DictionaryDelta;
using nanolane::trace::v1::SessionSummary;
using nanolane::trace::v1::TimeRange;

// Which blocks of a session.
struct BlockQuery {
  std::string session_id;
  std::vector<uint32_t> lane_ids;     // empty: all
  const TimeRange* window = nullptr;  // null: everything
  bool with_data = true;
};

class StoreReader {
 public:
  explicit StoreReader(const std::shared_ptr<grpc::Channel>& channel);

  absl::StatusOr<nanolane::store::v1::ListSessionsResponse> ListSessions(
      const nanolane::store::v1::ListSessionsRequest& request);
  absl::StatusOr<SessionSummary> GetSession(const std::string& session_id);
  absl::StatusOr<std::vector<StoredLane>> ListLanes(const std::string& session_id);
  absl::StatusOr<nanolane::store::v1::GetDensityResponse> GetDensity(
      const nanolane::store::v1::GetDensityRequest& request);
  absl::StatusOr<nanolane::store::v1::GetTilesResponse> GetTiles(
      const nanolane::store::v1::GetTilesRequest& request);
  absl::Status DeleteSession(const std::string& session_id);

  // Visits blocks in order of their first event; a visitor that returns false ends the read, which
  // then returns OK.
  absl::Status ReadBlocks(const BlockQuery& query, const std::function<bool(StoredBlock)>& visit) {
    return ReadBlocks(
        query, [](uint64_t) {}, visit);
  }
  // `selected` is told, before the first block, of the events of all that come.
  absl::Status ReadBlocks(const BlockQuery& query, const std::function<void(uint64_t)>& selected,
                          const std::function<bool(StoredBlock)>& visit);

  // Visits the entries with ids above `have` up to `need` of each table.
  absl::Status ReadDictionary(const std::string& session_id, uint64_t epoch,
                              const trace::DictionarySizes& have,
                              const trace::DictionarySizes& need,
                              const std::function<bool(DictionaryDelta)>& visit);

  // For what has a reactor of its own.
  nanolane::store::v1::StoreService::Stub& stub() { return *store_; }

 private:
  std::unique_ptr<nanolane::store::v1::StoreService::Stub> store_;
};

}  // namespace nanolane::query
