// A program that a test ends, stops and starts again under the same command line: a server that
// says "listening on" once it answers, or a program whose output nobody reads. What it writes to
// standard error goes to a log file that all its lives share. Thread-compatible.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace nanolane::testing {

class ChildProcess {
 public:
  struct Options {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;  // NAME=VALUE, in addition to this process's
    std::string log;                       // path
    // A line of its output that begins so means that it is up. Empty: its output is thrown away.
    std::string ready;
  };

  explicit ChildProcess(Options options) : options_(std::move(options)) {}
  // Kills it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Starts it; waits until it is up.
  absl::Status Start(std::chrono::milliseconds patience);
  void Signal(int signal) const;
  // SIGKILL, and waits for its end.
  void Kill();
  // Until it has ended by itself; false: it has not within `patience`.
  bool WaitEnded(std::chrono::milliseconds patience);

  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  // The last lines of the log.
  std::string LogTail() const;

 private:
  void CloseOutput();

  const Options options_;
  pid_t pid_ = -1;
  int output_ = -1;  // kept open, so that what it writes later does no harm
};

}  // namespace nanolane::testing
