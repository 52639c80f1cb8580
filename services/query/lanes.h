// Lanes of sessions as a timeline shows them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nanolane/query/v1/query.pb.h"
#include "services/query/store_reader.h"

namespace nanolane::query {

namespace v1 = nanolane::query::v1;

v1::LaneInfo LaneInfoOf(const std::string& session_id, const StoredLane& lane);

// Lanes of a session in display order: ranges of threads, then per GPU each stream with its ranges
// above and its synchronizations below it, synchronizations without a stream, memory, and last the
// calls of threads.
absl::StatusOr<std::vector<v1::LaneInfo>> LanesOf(const std::string& session_id,
                                                  StoreReader& store);

}  // namespace nanolane::query
