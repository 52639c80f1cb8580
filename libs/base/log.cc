#include "libs/base/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <string>

#include "absl/strings/str_format.h"
#include "libs/base/str_cat.h"

namespace nanolane::base {
namespace {

LogLevel FromEnvironment() {
  const char* value = std::getenv("NANOLANE_LOG");
  const std::string_view name = value == nullptr ? "" : value;
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "error") return LogLevel::kError;
  return LogLevel::kInfo;
}

std::atomic<LogLevel>& Threshold() {
  static std::atomic<LogLevel> threshold{FromEnvironment()};
  return threshold;
}

const char* Label(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "DEBUG";
    case LogLevel::kInfo: return "INFO ";
    case LogLevel::kWarning: return "WARN ";
    case LogLevel::kError: return "ERROR";
  }
  return "?";
}

}  // namespace

void SetLogLevel(LogLevel level) { Threshold() = level; }

void Log(LogLevel level, std::string_view area, std::string_view message) {
  if (level < Threshold()) return;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  std::string line =
      absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ %s %s: ", utc.tm_year + 1900,
                      utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                      static_cast<int>(now.tv_nsec / 1'000'000), Label(level), area);
  for (const char c : message) line.push_back(c == '\n' ? ' ' : c);
  line.push_back('\n');
  // One write, so that lines of several threads do not mix. Nothing is left to do if it fails.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace nanolane::base
