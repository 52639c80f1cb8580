#include "clients/desktop/platform/glfw_window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/desktop/render/gl.h"

namespace nanolane::desktop {
namespace {

struct KeyName {
  int glfw;
  Key key;
};
constexpr KeyName kKeys[] = {{GLFW_KEY_W, Key::kW},
                             {GLFW_KEY_A, Key::kA},
                             {GLFW_KEY_S, Key::kS},
                             {GLFW_KEY_D, Key::kD},
                             {GLFW_KEY_F, Key::kF},
                             {GLFW_KEY_SLASH, Key::kSlash},
                             {GLFW_KEY_ESCAPE, Key::kEscape},
                             {GLFW_KEY_ENTER, Key::kEnter},
                             {GLFW_KEY_KP_ENTER, Key::kEnter},
                             {GLFW_KEY_LEFT, Key::kLeft},
                             {GLFW_KEY_RIGHT, Key::kRight},
                             {GLFW_KEY_UP, Key::kUp},
                             {GLFW_KEY_DOWN, Key::kDown},
                             {GLFW_KEY_PAGE_UP, Key::kPageUp},
                             {GLFW_KEY_PAGE_DOWN, Key::kPageDown},
                             {GLFW_KEY_HOME, Key::kHome},
                             {GLFW_KEY_END, Key::kEnd},
                             {GLFW_KEY_M, Key::kM},
                             {GLFW_KEY_PERIOD, Key::kPeriod},
                             {GLFW_KEY_COMMA, Key::kComma},
                             {GLFW_KEY_LEFT_BRACKET, Key::kLeftBracket},
                             {GLFW_KEY_RIGHT_BRACKET, Key::kRightBracket},
                             {GLFW_KEY_DELETE, Key::kDelete},
                             {GLFW_KEY_BACKSPACE, Key::kBackspace},
                             {GLFW_KEY_C, Key::kC},
                             {GLFW_KEY_V, Key::kV},
                             {GLFW_KEY_X, Key::kX},
                             {GLFW_KEY_Y, Key::kY},
                             {GLFW_KEY_Z, Key::kZ}};

std::optional<Key> KeyOf(int glfw) {
  for (const KeyName& name : kKeys) {
    if (name.glfw == glfw) return name.key;
  }
  return std::nullopt;
}

std::string LastError() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text == nullptr ? "no reason given" : text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GlfwWindow>> GlfwWindow::Create(const Options& options) {
  if (glfwInit() != GLFW_TRUE) {
    return absl::UnavailableError(absl::StrCat("cannot open a window: ", LastError(),
                                               "; --screenshot FILE draws without a display"));
  }
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  auto window = std::unique_ptr<GlfwWindow>(new GlfwWindow);
  window->handle_ =
      glfwCreateWindow(static_cast<int>(options.width), static_cast<int>(options.height),
                       options.title.c_str(), nullptr, nullptr);
  if (window->handle_ == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot open a window with OpenGL 3.3: ", LastError(),
                     "; --screenshot FILE draws without a display"));
  }
  GLFWwindow* handle = window->handle_;
  glfwMakeContextCurrent(handle);
  glfwSwapInterval(1);
  glfwSetWindowUserPointer(handle, window.get());
  // A click that is over before the frame looks still counts.
  glfwSetInputMode(handle, GLFW_STICKY_MOUSE_BUTTONS, GLFW_TRUE);
  glfwSetKeyCallback(handle, &GlfwWindow::OnKey);
  glfwSetMouseButtonCallback(
      handle, [](GLFWwindow* of, int /*button*/, int /*action*/, int mods) { Of(of).Note(mods); });
  glfwSetCharCallback(
      handle, [](GLFWwindow* of, unsigned character) { Of(of).input_.typed.push_back(character); });
  glfwSetScrollCallback(handle, [](GLFWwindow* of, double sideways, double wheel) {
    const auto down = [of](int key) { return glfwGetKey(of, key) == GLFW_PRESS; };
    const bool ctrl = down(GLFW_KEY_LEFT_CONTROL) || down(GLFW_KEY_RIGHT_CONTROL);
    const bool shift = down(GLFW_KEY_LEFT_SHIFT) || down(GLFW_KEY_RIGHT_SHIFT);
    Of(of).Note((ctrl ? GLFW_MOD_CONTROL : 0) | (shift ? GLFW_MOD_SHIFT : 0));
    Of(of).input_.wheel += wheel;
    Of(of).input_.wheel_sideways += sideways;
  });
  return window;
}

GlfwWindow::~GlfwWindow() {
  if (handle_ != nullptr) glfwDestroyWindow(handle_);
  glfwTerminate();
}

GlfwWindow& GlfwWindow::Of(GLFWwindow* handle) {
  return *static_cast<GlfwWindow*>(glfwGetWindowUserPointer(handle));
}

void GlfwWindow::OnKey(GLFWwindow* handle, int key, int /*scancode*/, int action, int mods) {
  Of(handle).Note(mods);
  Input& input = Of(handle).input_;
  const std::optional<Key> known = KeyOf(key);
  if (!known.has_value()) return;
  const auto index = static_cast<size_t>(*known);
  input.held[index] = action != GLFW_RELEASE;
  if (action != GLFW_RELEASE && input.pressed[index] < 255) ++input.pressed[index];
}

void GlfwWindow::Note(int mods) {
  input_.ctrl = input_.ctrl || (mods & GLFW_MOD_CONTROL) != 0;
  input_.shift = input_.shift || (mods & GLFW_MOD_SHIFT) != 0;
  input_.alt = input_.alt || (mods & GLFW_MOD_ALT) != 0;
}

void GlfwWindow::WaitEvents(double seconds) {
  if (seconds > 0) {
    glfwWaitEventsTimeout(seconds);
  } else {
    glfwPollEvents();
  }
}

Input GlfwWindow::TakeInput() {
  const bool focused = glfwGetWindowAttrib(handle_, GLFW_FOCUSED) == GLFW_TRUE;
  if (!focused) input_.held.fill(false);  // releases go to whoever has the focus now
  const auto down = [this](int key) { return glfwGetKey(handle_, key) == GLFW_PRESS; };
  input_.ctrl = input_.ctrl || down(GLFW_KEY_LEFT_CONTROL) || down(GLFW_KEY_RIGHT_CONTROL);
  input_.shift = input_.shift || down(GLFW_KEY_LEFT_SHIFT) || down(GLFW_KEY_RIGHT_SHIFT);
  input_.alt = input_.alt || down(GLFW_KEY_LEFT_ALT) || down(GLFW_KEY_RIGHT_ALT);
  input_.left_down = glfwGetMouseButton(handle_, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS;
  input_.right_down = glfwGetMouseButton(handle_, GLFW_MOUSE_BUTTON_RIGHT) == GLFW_PRESS;
  double x = 0;
  double y = 0;
  glfwGetCursorPos(handle_, &x, &y);
  int wide = 1;
  int high = 1;
  glfwGetWindowSize(handle_, &wide, &high);
  input_.mouse_x = x * width() / std::max(wide, 1);
  input_.mouse_y = y * height() / std::max(high, 1);
  Input taken = input_;
  input_.typed.clear();
  input_.pressed.fill(0);
  input_.wheel = input_.wheel_sideways = 0;
  input_.ctrl = input_.shift = input_.alt = false;
  return taken;
}

void GlfwWindow::Wake() { glfwPostEmptyEvent(); }

bool GlfwWindow::should_close() const { return glfwWindowShouldClose(handle_) == GLFW_TRUE; }

void GlfwWindow::Close() { glfwSetWindowShouldClose(handle_, GLFW_TRUE); }

double GlfwWindow::width() const { return pixel_width() / device_scale(); }

double GlfwWindow::height() const { return pixel_height() / device_scale(); }

uint32_t GlfwWindow::pixel_width() const {
  int wide = 0;
  int high = 0;
  glfwGetFramebufferSize(handle_, &wide, &high);
  return static_cast<uint32_t>(std::max(wide, 0));
}

uint32_t GlfwWindow::pixel_height() const {
  int wide = 0;
  int high = 0;
  glfwGetFramebufferSize(handle_, &wide, &high);
  return static_cast<uint32_t>(std::max(high, 0));
}

double GlfwWindow::device_scale() const {
  float x = 1;
  float y = 1;
  glfwGetWindowContentScale(handle_, &x, &y);
  return std::clamp(static_cast<double>(x), 1.0, 4.0);
}

void GlfwWindow::BindFramebuffer() const {
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  glViewport(0, 0, static_cast<GLsizei>(pixel_width()), static_cast<GLsizei>(pixel_height()));
}

void GlfwWindow::Swap() { glfwSwapBuffers(handle_); }

std::string GlfwWindow::Clipboard() const {
  const char* text = glfwGetClipboardString(handle_);
  return text == nullptr ? "" : text;
}

void GlfwWindow::SetClipboard(const std::string& text) {
  glfwSetClipboardString(handle_, text.c_str());
}

}  // namespace nanolane::desktop
