#include "clients/cli/output/progress.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "absl/strings/str_format.h"

namespace nanolane::cli {
namespace {

constexpr std::chrono::milliseconds kQuiet(300);
constexpr std::chrono::milliseconds kRedraw(80);
constexpr int kBarWidth = 24;

std::string Bar(double share) {
  const int full = static_cast<int>(share * kBarWidth);
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) bar += i < full ? "█" : "░";
  return bar;
}

}  // namespace

ProgressBar::ProgressBar(std::string what)
    : what_(std::move(what)),
      terminal_(isatty(STDERR_FILENO) != 0),
      started_(std::chrono::steady_clock::now()),
      drawn_(started_) {}

ProgressBar::~ProgressBar() {
  // Clears the bar: the result speaks for itself.
  if (shown_ && terminal_) std::cerr << "\r\033[K" << std::flush;
}

void ProgressBar::Update(uint64_t done, uint64_t total, const std::string& note) {
  const auto now = std::chrono::steady_clock::now();
  if (now - started_ < kQuiet) return;
  if (terminal_) {
    if (now - drawn_ < kRedraw) return;
    drawn_ = now;
    Draw(done, total, note);
    shown_ = true;
    return;
  }
  const int tenth = total == 0 ? 0 : static_cast<int>(std::min(done, total) * 10 / total);
  if (tenth <= tenth_) return;
  tenth_ = tenth;
  std::cerr << absl::StrFormat("%s: %d %%, %s\n", what_, tenth * 10, note);
}

void ProgressBar::Draw(uint64_t done, uint64_t total, const std::string& note) const {
  const double share =
      total == 0 ? 0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  std::cerr << "\r\033[K" << what_ << " " << Bar(share)
            << absl::StrFormat(" %3.0f %%  %s", share * 100, note) << std::flush;
}

}  // namespace nanolane::cli
