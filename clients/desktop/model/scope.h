// What is being looked at: which project, host, process, GPU and time. Every part that is set
// must fit a session; a part that is not set fits all. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clients/desktop/model/session_facts.h"
#include "libs/timeline/columns.h"

namespace nanolane::desktop {

// A process on a host. Sessions of one process are its captures.
struct ProcessKey {
  std::string host;
  std::string executable;
  uint64_t pid = 0;

  bool operator==(const ProcessKey& other) const {
    return host == other.host && executable == other.executable && pid == other.pid;
  }
};

struct TimeChoice {
  enum class Kind : uint8_t { kAll, kLast, kExact };
  Kind kind = Kind::kAll;
  int64_t last_ns = 0;     // kLast: before now
  timeline::Window exact;  // kExact: Unix time

  bool operator==(const TimeChoice& other) const {
    return kind == other.kind && last_ns == other.last_ns &&
           exact.start_ns == other.exact.start_ns && exact.end_ns == other.exact.end_ns;
  }
};

struct Scope {
  std::optional<std::string> project;
  std::optional<std::string> host;
  std::optional<ProcessKey> process;
  std::optional<std::string> gpu;  // product name
  TimeChoice time;
};

// "default" where a session names none.
std::string ProjectOf(const SessionFacts& session);
ProcessKey ProcessOf(const SessionFacts& session);
// "python3 embed.py · 4121"
std::string ProcessText(const SessionFacts& session);
// The part of a path after its last slash.
std::string BaseName(const std::string& path);

// First start to last end in Unix time; of a session whose offset is not known, as if it were 0.
// A session without events has an empty one at the time of its newest append.
timeline::Window UnixExtent(const SessionFacts& session);

// The range of Unix time that is chosen; nothing: all.
std::optional<timeline::Window> RangeOf(const TimeChoice& time, int64_t now_unix_ns);

bool Selects(const Scope& scope, const SessionFacts& session, int64_t now_unix_ns);

// Positions in `sessions` of those that the scope selects, in their order.
std::vector<size_t> Selected(const Scope& scope, const std::vector<SessionFacts>& sessions,
                             int64_t now_unix_ns);

// The scope that a session itself is in: its project, host and process; all GPUs, all times.
Scope ScopeOf(const SessionFacts& session);

// Which parts a picker chooses.
enum class ScopePart : uint8_t { kProject, kHost, kProcess, kGpu, kTime };
inline constexpr size_t kScopePartCount = 5;

// `scope` without those parts that leave nothing: narrower ones first, never `keep`.
Scope Widened(Scope scope, ScopePart keep, const std::vector<SessionFacts>& sessions,
              int64_t now_unix_ns);

}  // namespace nanolane::desktop
