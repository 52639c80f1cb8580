// Search: ops whose name matches a regular expression, with counts and first hits.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "nanolane/query/v1/query.pb.h"
#include "services/query/store_reader.h"

namespace nanolane::query {

namespace v1 = nanolane::query::v1;

// INVALID_ARGUMENT for a bad pattern. `stop` is asked between blocks.
absl::StatusOr<v1::SearchResponse> Search(const v1::SearchRequest& request, StoreReader& store,
                                          const std::function<bool()>& stop);

}  // namespace nanolane::query
