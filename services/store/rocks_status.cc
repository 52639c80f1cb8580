#include "services/store/rocks_status.h"

#include "libs/base/str_cat.h"

namespace nanolane::store {

absl::Status FromRocks(const rocksdb::Status& status, std::string_view doing) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = base::StrCat(doing, ": ", status.ToString());
  if (status.IsNoSpace()) {
    return absl::ResourceExhaustedError(
        base::StrCat(message, "; the disk is full: delete sessions or free space"));
  }
  if (status.IsNotFound()) return absl::NotFoundError(message);
  if (status.IsCorruption()) return absl::DataLossError(message);
  if (status.IsInvalidArgument()) return absl::InvalidArgumentError(message);
  if (status.IsTimedOut()) return absl::DeadlineExceededError(message);
  if (status.IsBusy() || status.IsTryAgain() || status.IsShutdownInProgress()) {
    return absl::UnavailableError(message);
  }
  return absl::InternalError(message);
}

}  // namespace nanolane::store
