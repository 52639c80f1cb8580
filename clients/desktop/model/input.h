// One frame's mouse and keys, as the platform reports them: without ImGui or GLFW, so that
// navigation is tested without a window.
//
// Keys are physical positions, named by what a US keyboard has there: W is the key above S on any
// layout.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nanolane::desktop {

enum class Key : uint8_t {
  kW,
  kA,
  kS,
  kD,
  kF,
  kSlash,
  kEscape,
  kEnter,
  kLeft,
  kRight,
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kM,
  kPeriod,
  kComma,
  kLeftBracket,
  kRightBracket,
  // For text fields alone:
  kDelete,
  kBackspace,
  kC,
  kV,
  kX,
  kY,
  kZ,
};
inline constexpr size_t kKeyCount = 28;

struct Input {
  double mouse_x = -1;  // logical pixels of the window; negative: not over it
  double mouse_y = -1;
  double wheel = 0;           // clicks, positive away from the person
  double wheel_sideways = 0;  // clicks, positive to the left
  bool left_down = false;
  bool right_down = false;
  bool ctrl = false;
  bool shift = false;
  bool alt = false;
  bool typing = false;       // a text field has the keyboard
  bool mouse_taken = false;  // a widget has the mouse
  std::array<bool, kKeyCount> held{};
  std::array<uint8_t, kKeyCount> pressed{};  // times pressed (or repeated) since the last frame

  std::vector<uint32_t> typed;  // characters for a text field, Unicode

  bool Held(Key key) const { return held[static_cast<size_t>(key)]; }
  bool Pressed(Key key) const { return pressed[static_cast<size_t>(key)] != 0; }
};

}  // namespace nanolane::desktop
