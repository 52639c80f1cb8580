// Progress of long work on stderr: a bar that redraws itself on a terminal, a line every tenth
// elsewhere. Nothing for work that ends at once. Thread-compatible.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace nanolane::cli {

class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();

  // `note` is shown behind the bar. A total of 0 is "not known".
  void Update(uint64_t done, uint64_t total, const std::string& note);

 private:
  void Draw(uint64_t done, uint64_t total, const std::string& note) const;

  const std::string what_;
  const bool terminal_;
  const std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point drawn_;
  int tenth_ = 0;
  bool shown_ = false;
};

}  // namespace nanolane::cli
