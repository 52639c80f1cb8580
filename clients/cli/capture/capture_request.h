// What to capture, from the words of the command line. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nanolane/collector/v1/collector.pb.h"

namespace nanolane::cli {

// "30s", "2m", "500ms", "1m30s": nanoseconds, more than 0 and at most the 10 minutes that a
// collector grants.
absl::StatusOr<int64_t> ParseCaptureDuration(std::string_view text);

// "kernel", "framework-memory", …
std::string_view CaptureKindName(nanolane::collector::v1::CaptureKind kind);

// All names, with commas between them.
std::string CaptureKindNames();

struct CaptureWords {
  std::string duration;
  std::vector<std::string> kinds;   // empty: everything
  std::string project;              // empty: the process's own
  std::vector<std::string> labels;  // "KEY=VALUE"
};

// A request without a process. INVALID_ARGUMENT names the word that is wrong.
absl::StatusOr<nanolane::collector::v1::StartCaptureRequest> ToRequest(const CaptureWords& words);

}  // namespace nanolane::cli
