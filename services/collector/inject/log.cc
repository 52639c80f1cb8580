#include "services/collector/inject/log.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#include "services/collector/inject/environment.h"

namespace nanolane::inject {
namespace {

bool Enabled() {
  const char* value = ValueOf(Variable::kLog);
  return value != nullptr && value[0] == '1';
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
