// What the simulated program is told to do: lines of words, with blocks that end with `end`. The
// commands are listed in sim_program.cc. Pure.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nanolane::sim {

struct Command {
  int line = 0;
  std::string name;
  std::vector<std::string> words;                            // after the name, without options
  std::vector<std::pair<std::string, std::string>> options;  // key=value
  std::vector<Command> body;                                 // of a block

  // Null: not given.
  const std::string* Option(std::string_view key) const;
};

// Words are separated by blanks; "..." makes one word of what it holds, # begins a comment.
absl::StatusOr<std::vector<Command>> ParseScript(std::string_view text);

}  // namespace nanolane::sim
