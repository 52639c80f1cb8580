// What is kept of a writer epoch: a fixed little-endian record (docs/storage-format.md).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "services/store/session_ledger.h"

namespace nanolane::store {

std::string EpochRecord(const EpochState& epoch);
// DATA_LOSS when it is malformed.
absl::StatusOr<EpochState> ParseEpochRecord(std::string_view record);

}  // namespace nanolane::store
