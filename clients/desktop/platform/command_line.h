// The command line of nanolane-desktop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "clients/desktop/view/theme.h"
#include "libs/base/time_text.h"

namespace nanolane::desktop {

struct CommandLine {
  std::string server = "127.0.0.1:7070";
  std::string session;
  std::optional<base::TimeRange> range;
  ThemeName theme = ThemeName::kDark;
  std::string screenshot;  // empty: open a window
  uint32_t width = 1600;   // logical pixels
  uint32_t height = 900;
  uint32_t scale = 1;   // physical pixels in a logical one, of a screenshot
  bool select = false;  // a screenshot shows the details of a typical event
  bool expand = false;  // and the stacks above the streams
  // A session with more events is not loaded: its pixels come from the server.
  uint64_t most_events = 10'000'000;
};

// Text to print before a successful exit: --help, --version.
struct PrintAndExit {
  std::string text;
};

// INVALID_ARGUMENT with a message for the person.
absl::StatusOr<std::variant<CommandLine, PrintAndExit>> ParseCommandLine(int argc,
                                                                         const char* const* argv);

}  // namespace nanolane::desktop
