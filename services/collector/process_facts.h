// What the kernel says of a process: executable, command line, user, container, pod. Read from
// /proc, or from a folder that is laid out like it (tests). Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace nanolane::collector {

struct ProcessFacts {
  uint64_t pid = 0;
  uint32_t uid = 0;
  std::string user;  // name, or the number where it has none
  std::string executable;
  std::vector<std::string> command_line;
  std::string container_id;  // 64 hexadecimal digits; empty: none
  std::string pod_uid;       // empty: none
  uint64_t start_ticks = 0;  // since boot; tells one process of a pid from the next
  int64_t start_unix_ns = 0;
};

// NOT_FOUND when there is no such process. What cannot be read (another user's executable) stays
// empty.
absl::StatusOr<ProcessFacts> ReadProcessFacts(const std::string& proc, uint64_t pid);

// Whether the process of these facts still runs.
bool IsAlive(const std::string& proc, const ProcessFacts& facts);

// From the lines of a cgroup file: "…/kubepods.slice/…-pod<uid>.slice/cri-containerd-<id>.scope",
// "/docker/<id>", …
struct ContainerFacts {
  std::string container_id;
  std::string pod_uid;  // with dashes
};
ContainerFacts ParseCgroup(std::string_view text);

// "HOST" as gethostname gives it.
std::string HostName();

}  // namespace nanolane::collector
