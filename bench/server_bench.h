// What the benches that talk to a real server share.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace nanolane::bench {

// A bench that cannot go on ends.
inline void Fail(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

inline std::string SessionId(int number) { return absl::StrFormat("%032x", number); }

}  // namespace nanolane::bench
