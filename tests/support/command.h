// Runs a program to its end and says what it printed.
#pragma once

#include <string>
#include <vector>

namespace nanolane::testing {

struct CommandResult {
  int exit_code = -1;  // -1: it could not be run or was killed
  std::string output;  // standard output
  std::string errors;  // standard error
};

CommandResult RunCommand(const std::vector<std::string>& arguments);

}  // namespace nanolane::testing
