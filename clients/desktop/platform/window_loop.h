// The viewer in a window: one frame after the other while something moves, none while nothing does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/platform/command_line.h"
#include "clients/desktop/platform/glfw_window.h"

namespace nanolane::desktop {

// How long a frame may take in what has come from the server, after one that took `draw_ns` to lay
// out and draw: as long again, so that a slow display does not slow the loading by more than half,
// within bounds that keep the hands' moves fluent.
constexpr int64_t PumpBudgetNs(int64_t draw_ns) {
  constexpr int64_t kLeast = 5'000'000;
  constexpr int64_t kMost = 24'000'000;
  return std::clamp(draw_ns, kLeast, kMost);
}

struct WindowLoopOptions {
  // Called when a frame is drawn, before it is shown; false ends the loop. For tests.
  std::function<bool(const GlfwWindow&, const Viewer&)> after_frame =
      [](const GlfwWindow&, const Viewer&) { return true; };
};

// Runs until the window is closed.
absl::Status RunWindow(const CommandLine& line, const WindowLoopOptions& options);

}  // namespace nanolane::desktop
