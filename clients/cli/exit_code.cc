#include "clients/cli/exit_code.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"

namespace nanolane::cli {
namespace {

constexpr const char* kPayload = "nanolane/exit_code";

}  // namespace

absl::Status WithExitCode(absl::Status status, int code) {
  status.SetPayload(kPayload, absl::Cord(std::to_string(code)));
  return status;
}

int ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return 0;
  int code = 0;
  const auto payload = status.GetPayload(kPayload);
  if (payload.has_value() && absl::SimpleAtoi(std::string(*payload), &code)) return code;
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailure;
}

}  // namespace nanolane::cli
