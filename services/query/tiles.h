// GetTiles: lanes of several sessions, session by session from the store, as one answer.
#pragma once

#include "absl/status/statusor.h"
#include "nanolane/query/v1/query.pb.h"
#include "services/query/store_reader.h"

namespace nanolane::query {

namespace v1 = nanolane::query::v1;

// INVALID_ARGUMENT for no lanes, too many columns, an empty window; NOT_FOUND for a session that is
// not there.
absl::StatusOr<v1::GetTilesResponse> GetTiles(const v1::GetTilesRequest& request,
                                              StoreReader& store);

}  // namespace nanolane::query
