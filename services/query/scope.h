// From a request's scope to sessions.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "nanolane/query/v1/query.pb.h"
#include "services/query/store_reader.h"

namespace nanolane::query {

namespace v1 = nanolane::query::v1;

// Sessions that one request may select.
inline constexpr int kMaxSessions = 1'000;

// The sessions that a scope selects, newest first (ids: in the order given). INVALID_ARGUMENT for
// more than kMaxSessions, NOT_FOUND for none.
absl::StatusOr<std::vector<SessionSummary>> SelectSessions(const v1::Scope& scope,
                                                           StoreReader& store);

// A page of the sessions that a scope selects; an empty one is no error.
absl::StatusOr<v1::ListSessionsResponse> ListSessions(const v1::ListSessionsRequest& request,
                                                      StoreReader& store);

bool InScope(const SessionSummary& summary, const v1::Scope& scope);

}  // namespace nanolane::query
