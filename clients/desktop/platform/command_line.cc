#include "clients/desktop/platform/command_line.h"

#include <CLI/CLI.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "libs/base/status_macros.h"

namespace nanolane::desktop {
namespace {

constexpr uint32_t kLeastSide = 320;
constexpr uint32_t kMostSide = 16'384;

absl::Status ParseSize(const std::string& text, CommandLine& line) {
  const std::vector<std::string> parts = absl::StrSplit(text, 'x');
  const bool read = parts.size() == 2 && absl::SimpleAtoi(parts[0], &line.width) &&
                    absl::SimpleAtoi(parts[1], &line.height);
  if (!read) {
    return absl::InvalidArgumentError(
        absl::StrCat("bad size \"", text, "\": write WIDTHxHEIGHT, such as 1600x900"));
  }
  const uint32_t least = std::min(line.width, line.height);
  const uint32_t most = std::max(line.width, line.height);
  if (least >= kLeastSide && most <= kMostSide) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("bad size \"", text, "\": each side must be ",
                                                 kLeastSide, " to ", kMostSide, " pixels"));
}

}  // namespace

absl::StatusOr<std::variant<CommandLine, PrintAndExit>> ParseCommandLine(int argc,
                                                                         const char* const* argv) {
  CommandLine line;
  std::string range;
  std::string theme = "dark";
  std::string size;
  CLI::App app("Shows a recorded session as a timeline.", "nanolane-desktop");
  app.add_option("--server", line.server, "query service to ask")
      ->envname("NANOLANE_SERVER")
      ->type_name("ADDR")
      ->capture_default_str();
  app.add_option("--session", line.session,
                 "session to show, or the first digits of its id; the newest without it")
      ->type_name("S");
  app.add_option("--range", range,
                 "window to open at, counted from the session's start: 1.2ms..3ms")
      ->type_name("FROM..TO");
  app.add_option("--theme", theme, "colours")
      ->check(CLI::IsMember({"dark", "light"}))
      ->capture_default_str();
  CLI::Option* screenshot =
      app.add_option("--screenshot", line.screenshot, "write a PNG and exit; needs no display")
          ->type_name("FILE");
  app.add_option("--size", size, "of the window or the screenshot, in logical pixels (1600x900)")
      ->type_name("WxH");
  app.add_option("--scale", line.scale, "physical pixels in a logical one")
      ->check(CLI::Range(1, 2))
      ->needs(screenshot)
      ->capture_default_str();
  app.add_option(
         "--load-most", line.most_events,
         "events of a session that are loaded; larger ones are drawn by the server's answers")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--select", line.select, "select a typical event, for its details")
      ->needs(screenshot);
  app.add_flag("--expand", line.expand, "expand the streams, for the stacks above their events")
      ->needs(screenshot);
  app.set_version_flag("--version", "nanolane-desktop 0.1.0");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return PrintAndExit{app.help()};
  } catch (const CLI::CallForVersion&) {
    return PrintAndExit{"nanolane-desktop 0.1.0\n"};
  } catch (const CLI::Error& error) {
    return absl::InvalidArgumentError(absl::StrCat(error.what(), "; see --help"));
  }
  if (!range.empty()) {
    ASSIGN_OR_RETURN(line.range, base::ParseRange(range));
  }
  if (!size.empty()) RETURN_IF_ERROR(ParseSize(size, line));
  line.theme = theme == "light" ? ThemeName::kLight : ThemeName::kDark;
  return line;
}

}  // namespace nanolane::desktop
