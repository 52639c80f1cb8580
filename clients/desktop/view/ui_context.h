// Owns ImGui: its context, the OpenGL backend and the faces. Feeds it the platform's input and
// renders what the views have painted. One per process; needs a current OpenGL 3.3 context from
// construction to destruction. UI thread only.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "clients/desktop/model/input.h"
#include "clients/desktop/model/screen_layout.h"
#include "clients/desktop/view/fonts.h"
#include "clients/desktop/view/theme.h"

namespace nanolane::desktop {

// Text that goes to and comes from other programs.
struct Clipboard {
  std::function<std::string()> get = [] { return std::string(); };
  std::function<void(const std::string&)> set = [](const std::string&) {};
};

// A large area of one colour. Areas are cleared before anything is drawn, which on software OpenGL
// costs next to nothing; as rectangles they would be half of a frame.
struct Area {
  Rect rect;  // logical pixels
  Rgba color = 0;
};

class UiContext {
 public:
  UiContext(double device_scale, Clipboard clipboard);
  ~UiContext();
  UiContext(const UiContext&) = delete;
  UiContext& operator=(const UiContext&) = delete;

  // `width` and `height` in logical pixels.
  void BeginFrame(const Input& input, double width, double height, double seconds);
  // Clears to `background` and `areas`, and draws into the bound framebuffer. Returns when that is
  // done, so that what a frame took can be told.
  void EndFrame(Rgba background, std::span<const Area> areas);

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
