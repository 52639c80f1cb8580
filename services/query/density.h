// GetDensity: the scope's sessions, page by page, and the store's bins of them added up.
#pragma once

#include "absl/status/statusor.h"
#include "nanolane/query/v1/query.pb.h"
#include "services/query/store_reader.h"

namespace nanolane::query {

namespace v1 = nanolane::query::v1;

// An empty scope is everything, and may be empty. INVALID_ARGUMENT as the store says it.
absl::StatusOr<v1::GetDensityResponse> GetDensity(const v1::GetDensityRequest& request,
                                                  StoreReader& store);

}  // namespace nanolane::query
