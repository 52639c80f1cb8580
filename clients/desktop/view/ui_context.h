// Owns ImGui: its context, the OpenGL backend and the faces. Feeds it the platform's input and
// renders what the views have painted. One per process; needs a current OpenGL 3.3 context from
// construction to destruction. UI thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "clients/desktop/model/input.h"
#include "clients/desktop/view/fonts.h"
#include "clients/desktop/view/theme.h"

namespace nanolane::desktop {

// Text that goes to and comes from other programs.
struct Clipboard {
  std::function<std::string()> get = [] { return std::string(); };
  std::function<void(const std::string&)> set = [](const std::string&) {};
};

class UiContext {
 public:
  UiContext(double device_scale, Clipboard clipboard);
  ~UiContext();
  UiContext(const UiContext&) = delete;
  UiContext& operator=(const UiContext&) = delete;

  // `width` and `height` in logical pixels.
  void BeginFrame(const Input& input, double width, double height, double seconds);
  // Clears to `background` and draws into the bound framebuffer.
  void EndFrame(Rgba background);

  const Fonts& fonts() const { return fonts_; }
  bool wants_keyboard() const;
  bool wants_mouse() const;

 private:
  const double scale_;
  Clipboard clipboard_;
  std::string clipboard_text_;  // ImGui reads it after the call that asked for it
  Fonts fonts_;
};

}  // namespace nanolane::desktop
