// An empty shell: flags in, exit code out. 0: done; 1: it failed; 2: wrong usage.

#include <cstdio>
#include <variant>

#include "clients/desktop/platform/command_line.h"
#include "clients/desktop/platform/screenshot.h"
#include "clients/desktop/platform/window_loop.h"

namespace {

int Fail(const absl::Status& status, int code) {
  std::fprintf(stderr, "nanolane-desktop: %s\n", std::string(status.message()).c_str());
  return code;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): nothing but the end of memory throws here
int main(int argc, char** argv) {
  namespace desktop = nanolane::desktop;
  const auto parsed = desktop::ParseCommandLine(argc, argv);
  if (!parsed.ok()) return Fail(parsed.status(), 2);
  if (const auto* text = std::get_if<desktop::PrintAndExit>(&*parsed)) {
    std::fputs(text->text.c_str(), stdout);
    return 0;
  }
  const auto& line = std::get<desktop::CommandLine>(*parsed);
  if (line.screenshot.empty()) {
    const absl::Status status = desktop::RunWindow(line, {});
    return status.ok() ? 0 : Fail(status, 1);
  }
  const absl::Status status = desktop::TakeScreenshot(line);
  if (!status.ok()) return Fail(status, 1);
  std::printf("%s\n", line.screenshot.c_str());
  return 0;
}
