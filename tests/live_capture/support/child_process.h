// A program that runs beside the test: its output is read line by line, as it comes.
// What still runs when it goes is killed.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace nanolane::testing {

struct ChildOptions {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // added to the test's own
  std::string errors;                              // file for standard error; empty: the test's
};

struct ChildExit {
  int code = -1;  // -1: killed
  int signal = 0;
};

class ChildProcess {
 public:
  explicit ChildProcess(const ChildOptions& options);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Also once it has ended.
  pid_t pid() const { return first_pid_; }
  // The next line of its output that has `text` in it; false: the output has ended.
  bool WaitForLine(const std::string& text, std::string* line = nullptr);
  void Signal(int signal) const;
  // Until it has ended.
  ChildExit Wait();
  // Most memory that it has held at once, in bytes (VmHWM); 0: it has ended.
  uint64_t PeakBytes() const;

 private:
  pid_t pid_ = -1;  // -1: has ended
  pid_t first_pid_ = -1;
  int output_ = -1;
  std::string read_;
  ChildExit exit_;
};

}  // namespace nanolane::testing
