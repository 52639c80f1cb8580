#include "clients/cli/capture/capture_request.h"

#include <array>

#include "clients/cli/capture/proto_time.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/base/time_text.h"

namespace nanolane::cli {
namespace {

namespace collector_v1 = nanolane::collector::v1;
using collector_v1::CaptureKind;
using collector_v1::StartCaptureRequest;

constexpr int64_t kLongestNs = 600'000'000'000;

struct NamedKind {
  std::string_view name;
  CaptureKind kind;
};
constexpr std::array<NamedKind, 8> kKinds = {{
    {"kernel", collector_v1::CAPTURE_KIND_KERNEL},
    {"memcpy", collector_v1::CAPTURE_KIND_MEMCPY},
    {"memset", collector_v1::CAPTURE_KIND_MEMSET},
    {"sync", collector_v1::CAPTURE_KIND_SYNC},
    {"nvtx", collector_v1::CAPTURE_KIND_NVTX},
    {"memory", collector_v1::CAPTURE_KIND_MEMORY},
    {"framework-memory", collector_v1::CAPTURE_KIND_FRAMEWORK_MEMORY},
    {"launch", collector_v1::CAPTURE_KIND_LAUNCH},
}};

absl::StatusOr<CaptureKind> ParseKind(std::string_view text) {
  for (const NamedKind& named : kKinds) {
    if (named.name == text) return named.kind;
  }
  return absl::InvalidArgumentError(
      base::StrCat("unknown kind \"", text, "\"; there are ", CaptureKindNames()));
}

absl::Status AddLabel(const std::string& text, StartCaptureRequest& request) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return absl::InvalidArgumentError(
        base::StrCat("bad label \"", text, "\": write KEY=VALUE, such as step=warmup"));
  }
  const std::string key = text.substr(0, equals);
  if (request.labels().contains(key)) {
    return absl::InvalidArgumentError(base::StrCat("the label \"", key, "\" is given twice"));
  }
  (*request.mutable_labels())[key] = text.substr(equals + 1);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> ParseCaptureDuration(std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t ns, base::ParseDuration(text));
  if (ns <= 0) {
    return absl::InvalidArgumentError(
        base::StrCat("cannot capture for ", text, ": it must be longer than nothing"));
  }
  if (ns > kLongestNs) {
    return absl::InvalidArgumentError(
        base::StrCat("cannot capture for ", text,
                     ": a capture lasts 10 minutes at most, so that one that is "
                     "forgotten ends; start another one after it"));
  }
  return ns;
}

std::string_view CaptureKindName(CaptureKind kind) {
  for (const NamedKind& named : kKinds) {
    if (named.kind == kind) return named.name;
  }
  return "unknown";
}

std::string CaptureKindNames() {
  std::string names;
  for (const NamedKind& named : kKinds) {
    names += base::StrCat(names.empty() ? "" : ",", named.name);
  }
  return names;
}

absl::StatusOr<StartCaptureRequest> ToRequest(const CaptureWords& words) {
  StartCaptureRequest request;
  ASSIGN_OR_RETURN(const int64_t duration_ns, ParseCaptureDuration(words.duration));
  *request.mutable_duration() = ToProtoDuration(duration_ns);
  for (const std::string& word : words.kinds) {
    ASSIGN_OR_RETURN(const CaptureKind kind, ParseKind(word));
    request.add_kinds(kind);
  }
  request.set_project(words.project);
  for (const std::string& label : words.labels) RETURN_IF_ERROR(AddLabel(label, request));
  return request;
}

}  // namespace nanolane::cli
