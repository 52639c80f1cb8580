// Captures that a file asks for: each process that registers and matches is captured once, from
// the moment its CUDA answers. For nodes without a rules service, and for programs that are over
// before anybody could ask.
//
//   {"captures": [{"name": "train.py", "duration": "30s", "kinds": ["kernel", "memcpy"],
//                  "project": "llm", "labels": {"team": "research"}}]}
#pragma once

#include <string>

#include <vector>

#include "absl/status/statusor.h"
#include "nanolane/collector/v1/collector.pb.h"
#include "services/collector/process_facts.h"

namespace nanolane::collector {

struct StaticCapture {
  // Part of the executable's path or of the command line; needed ("" would match everything).
  std::string name;
  std::string user;  // empty: any
  // Without pid.
  nanolane::collector::v1::StartCaptureRequest request;
};

// INVALID_ARGUMENT says which entry is wrong, and how; NOT_FOUND when there is no such file.
absl::StatusOr<std::vector<StaticCapture>> ReadStaticCaptures(const std::string& path);
absl::StatusOr<std::vector<StaticCapture>> ParseStaticCaptures(const std::string& json);

bool Matches(const StaticCapture& capture, const ProcessFacts& facts);

}  // namespace nanolane::collector
