// What the library says on stderr, and only when NANOLANE_INJECT_LOG=1 is set: it lives in somebody
// else's process. Thread-safe.
#pragma once

namespace nanolane::inject {

// printf's formats; a line with the process id, without allocation.
[[gnu::format(printf, 1, 2)]] void Log(const char* format, ...);

}  // namespace nanolane::inject
