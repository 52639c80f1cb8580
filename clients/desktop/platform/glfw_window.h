// A window with an OpenGL 3.3 core context, and its mouse and keys as Input. Keys are physical
// positions (GLFW names keys by where a US keyboard has them). UI thread only, one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "clients/desktop/model/input.h"

struct GLFWwindow;

namespace nanolane::desktop {

class GlfwWindow {
 public:
  struct Options {
    uint32_t width = 1600;  // logical pixels
    uint32_t height = 900;
    std::string title = "Nanolane";
  };
  // UNAVAILABLE where there is no display.
  static absl::StatusOr<std::unique_ptr<GlfwWindow>> Create(const Options& options);
  ~GlfwWindow();
  GlfwWindow(const GlfwWindow&) = delete;
  GlfwWindow& operator=(const GlfwWindow&) = delete;

  // Collects what has happened; waits for something to happen for up to `seconds`.
  void WaitEvents(double seconds);
  // What has happened since the last TakeInput.
  Input TakeInput();
  // Ends a WaitEvents, from any thread.
  static void Wake();

  bool should_close() const;
  void Close();
  double width() const;  // logical pixels
  double height() const;
  uint32_t pixel_width() const;
  uint32_t pixel_height() const;
  double device_scale() const;
  // Directs drawing to the window; shows what was drawn.
  void BindFramebuffer() const;
  void Swap();
  std::string Clipboard() const;
  void SetClipboard(const std::string& text);

 private:
  GlfwWindow() = default;
  static void OnKey(GLFWwindow* handle, int key, int scancode, int action, int mods);
  // Modifier keys that were down at an event since the last TakeInput.
  void Note(int mods);
  static GlfwWindow& Of(GLFWwindow* handle);

  GLFWwindow* handle_ = nullptr;
  Input input_;
};

}  // namespace nanolane::desktop
