// What the benches that talk to a real server share.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
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

// Takes the store's files out of the page cache.
inline void DropCache(const std::string& folder) {
  ::sync();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

}  // namespace nanolane::bench
