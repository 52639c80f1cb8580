// A sentence for the status bar that goes away by itself. Thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace nanolane::desktop {

class StatusHint {
 public:
  static constexpr int64_t kStaysNs = 6'000'000'000;

  void Say(std::string text) {
    text_ = std::move(text);
    said_ns_ = now_ns_;
  }
  // Says what time it is (monotonic).
  void Tick(int64_t now_ns) {
    now_ns_ = now_ns;
    if (now_ns - said_ns_ >= kStaysNs) text_.clear();
  }
  void Clear() { text_.clear(); }

  const std::string& text() const { return text_; }  // empty: nothing to say

 private:
  std::string text_;
  int64_t said_ns_ = 0;
  int64_t now_ns_ = 0;
};

}  // namespace nanolane::desktop
