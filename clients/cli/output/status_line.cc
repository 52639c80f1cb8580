#include "clients/cli/output/status_line.h"

#include <unistd.h>

#include <iostream>

namespace nanolane::cli {

StatusLine::StatusLine() : terminal_(isatty(STDERR_FILENO) != 0) {}

StatusLine::~StatusLine() { Clear(); }

void StatusLine::Show(const std::string& alarm, const std::string& text) {
  const std::string separator = alarm.empty() ? "" : ", ";
  if (!terminal_) {
    std::cerr << alarm + separator + text + "\n" << std::flush;
    return;
  }
  const std::string red = alarm.empty() ? "" : "\033[1;31m" + alarm + "\033[0m";
  // Without line breaks (?7l): what does not fit is cut off, and the line can be written over.
  std::cerr << "\r\033[K\033[?7l" + red + separator + text + "\033[?7h" << std::flush;
  shown_ = true;
}

void StatusLine::Clear() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
}

}  // namespace nanolane::cli
