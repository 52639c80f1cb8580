// An X server without a screen (Xvfb) on a display number that it picks itself, and a hand in it
// (xdotool). For tests that need a real window.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace nanolane::desktop {

class XServer {
 public:
  // UNAVAILABLE where Xvfb or xdotool is missing.
  static absl::StatusOr<std::unique_ptr<XServer>> Start(int width, int height);
  ~XServer();
  XServer(const XServer&) = delete;
  XServer& operator=(const XServer&) = delete;

  const std::string& display() const { return display_; }  // ":7"
  // Runs xdotool with these arguments in this display and waits for it. What it printed; empty when
  // it failed.
  std::string Do(const std::vector<std::string>& arguments) const;
  // Gives the keyboard another layout: "fr". False: it could not be done.
  bool SetKeyboard(const std::string& layout) const;

 private:
  XServer() = default;
  // Runs a program in this display and waits for it. Nothing when it failed.
  std::optional<std::string> Run(const std::vector<std::string>& command) const;

  pid_t pid_ = -1;
  std::string display_;
};

}  // namespace nanolane::desktop
