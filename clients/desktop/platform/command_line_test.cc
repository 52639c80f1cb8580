#include "clients/desktop/platform/command_line.h"

#include <catch2/catch.hpp>
#include <vector>

namespace nanolane::desktop {
namespace {

absl::StatusOr<std::variant<CommandLine, PrintAndExit>> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "nanolane-desktop");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

CommandLine Parsed(const std::vector<const char*>& arguments) {
  const auto parsed = Parse(arguments);
  REQUIRE(parsed.ok());
  return std::get<CommandLine>(*parsed);
}

}  // namespace

TEST_CASE("flags of a screenshot") {
  const CommandLine line =
      Parsed({"--server", "127.0.0.1:1", "--session", "c74d", "--range", "1.2ms..3ms", "--theme",
              "light", "--screenshot", "a.png", "--size", "1280x720", "--scale", "2"});
  CHECK(line.server == "127.0.0.1:1");
  CHECK(line.session == "c74d");
  REQUIRE(line.range.has_value());
  CHECK(line.range->from_ns == 1'200'000);
  CHECK(line.range->to_ns == 3'000'000);
  CHECK(line.theme == ThemeName::kLight);
  CHECK(line.screenshot == "a.png");
  CHECK(line.width == 1'280);
  CHECK(line.height == 720);
  CHECK(line.scale == 2);
}

TEST_CASE("without flags a window of 1600 by 900 opens on the local server") {
  const CommandLine line = Parsed({});
  CHECK(line.screenshot.empty());
  CHECK(line.width == 1'600);
  CHECK(line.height == 900);
  CHECK(line.theme == ThemeName::kDark);
}

TEST_CASE("wrong usage names what is wrong") {
  const std::vector<std::pair<std::vector<const char*>, const char*>> cases = {
      {{"--range", "3ms..1ms"}, "FROM must be before TO"},
      {{"--range", "1..2"}, "unit"},
      {{"--size", "big", "--screenshot", "a.png"}, "WIDTHxHEIGHT"},
      {{"--size", "10x10", "--screenshot", "a.png"}, "320"},
      {{"--size", "99999x900", "--screenshot", "a.png"}, "16384"},
      {{"--scale", "3", "--screenshot", "a.png"}, "scale"},
      {{"--scale", "2"}, "screenshot"},
      {{"--theme", "pink"}, "theme"},
      {{"--colour"}, "--colour"}};
  for (const auto& [arguments, part] : cases) {
    const auto parsed = Parse(arguments);
    REQUIRE_FALSE(parsed.ok());
    CHECK(absl::IsInvalidArgument(parsed.status()));
    INFO(parsed.status().message());
    CHECK(std::string(parsed.status().message()).find(part) != std::string::npos);
  }
}

TEST_CASE("help is printed and exits well") {
  const auto parsed = Parse({"--help"});
  REQUIRE(parsed.ok());
  CHECK(std::get<PrintAndExit>(*parsed).text.find("--screenshot") != std::string::npos);
}

}  // namespace nanolane::desktop
