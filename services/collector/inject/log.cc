#include "services/collector/inject/log.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace nanolane::inject {
namespace {

bool Enabled() {
  static const bool enabled = [] {
    const char* value = getenv("NANOLANE_INJECT_LOG");
    return value != nullptr && value[0] == '1';
  }();
  return enabled;
}

}  // namespace

void Log(const char* format, ...) {
  if (!Enabled()) return;
  char line[1024];
  int used = snprintf(line, sizeof(line), "nanolane_inject[%d]: ", getpid());
  va_list arguments;
  va_start(arguments, format);
  used += vsnprintf(line + used, sizeof(line) - static_cast<size_t>(used) - 1, format, arguments);
  va_end(arguments);
  if (used > static_cast<int>(sizeof(line)) - 2) used = sizeof(line) - 2;
  line[used] = '\n';
  const ssize_t ignored = write(STDERR_FILENO, line, static_cast<size_t>(used) + 1);
  static_cast<void>(ignored);
}

}  // namespace nanolane::inject
