// What is going on, on stderr: one line that is written over on a terminal, a line each time
// elsewhere. Thread-compatible.
#pragma once

#include <string>

namespace nanolane::cli {

class StatusLine {
 public:
  StatusLine();
  // Takes the line away from a terminal.
  ~StatusLine();

  bool terminal() const { return terminal_; }
  // `alarm` stands in front and, on a terminal, in red; empty: there is none.
  void Show(const std::string& alarm, const std::string& text);
  void Clear();

 private:
  const bool terminal_;
  bool shown_ = false;
};

}  // namespace nanolane::cli
