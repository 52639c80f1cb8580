// Runs a program to its end and says what it printed.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace nanolane::testing {

class TempFolder;

struct CommandResult {
  int exit_code = -1;  // -1: it could not be run or was killed
  int signal = 0;      // that killed it
  std::string output;  // standard output
  std::string errors;  // standard error
};

// A program that runs. What is still running when it goes is killed.
class RunningCommand {
 public:
  explicit RunningCommand(const std::vector<std::string>& arguments);
  ~RunningCommand();
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  void Signal(int signal) const;
  // Until it has ended; call it once.
  CommandResult Wait();

 private:
  const std::string name_;
  const std::unique_ptr<TempFolder> folder_;
  pid_t pid_ = -1;
};

CommandResult RunCommand(const std::vector<std::string>& arguments);

}  // namespace nanolane::testing
