// One line an event on stderr: "2026-01-02T03:04:05.678Z INFO  store: opened path=/x sessions=3".
// Log once, at the boundary that handles the error. Thread-safe.
#pragma once

#include <string_view>

namespace nanolane::base {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Lines below this level are dropped; the start value is kInfo, or NANOLANE_LOG's (debug, info,
// warning, error) where it is set.
void SetLogLevel(LogLevel level);

void Log(LogLevel level, std::string_view area, std::string_view message);

inline void LogInfo(std::string_view area, std::string_view message) {
  Log(LogLevel::kInfo, area, message);
}
inline void LogWarning(std::string_view area, std::string_view message) {
  Log(LogLevel::kWarning, area, message);
}
inline void LogError(std::string_view area, std::string_view message) {
  Log(LogLevel::kError, area, message);
}

}  // namespace nanolane::base
