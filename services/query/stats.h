// GetStats: totals per lane and per op name in a window, exact.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "nanolane/query/v1/query.pb.h"
#include "services/query/store_reader.h"

namespace nanolane::query {

namespace v1 = nanolane::query::v1;

// Exact percentiles keep every duration: windows with more events than this are refused.
inline constexpr uint64_t kMaxStatsEvents = 50'000'000;

// RESOURCE_EXHAUSTED beyond kMaxStatsEvents. `stop` is asked between blocks.
absl::StatusOr<v1::GetStatsResponse> GetStats(const v1::GetStatsRequest& request,
                                              StoreReader& store,
                                              const std::function<bool()>& stop);

}  // namespace nanolane::query
