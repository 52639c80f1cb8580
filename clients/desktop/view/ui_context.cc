#include "clients/desktop/view/ui_context.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "backends/imgui_impl_opengl3.h"
#include "clients/desktop/render/gl.h"

namespace nanolane::desktop {
namespace {

struct KeyMapping {
  ImGuiKey_ imgui;
  Key key;
};
constexpr KeyMapping kKeys[] = {{ImGuiKey_LeftArrow, Key::kLeft},
                                {ImGuiKey_RightArrow, Key::kRight},
                                {ImGuiKey_UpArrow, Key::kUp},
                                {ImGuiKey_DownArrow, Key::kDown},
                                {ImGuiKey_PageUp, Key::kPageUp},
                                {ImGuiKey_PageDown, Key::kPageDown},
                                {ImGuiKey_Home, Key::kHome},
                                {ImGuiKey_End, Key::kEnd},
                                {ImGuiKey_Delete, Key::kDelete},
                                {ImGuiKey_Backspace, Key::kBackspace},
                                {ImGuiKey_Enter, Key::kEnter},
                                {ImGuiKey_Escape, Key::kEscape},
                                {ImGuiKey_A, Key::kA},
                                {ImGuiKey_C, Key::kC},
                                {ImGuiKey_V, Key::kV},
                                {ImGuiKey_X, Key::kX},
                                {ImGuiKey_Y, Key::kY},
                                {ImGuiKey_Z, Key::kZ}};

void CalmStyle() {
  ImGuiStyle& style = ImGui::GetStyle();
  style.WindowPadding = {0, 0};
  style.WindowBorderSize = 0;
  style.FrameBorderSize = 0;
  style.FrameRounding = static_cast<float>(6);
  style.AntiAliasedLinesUseTex = true;
}

void Clear(Rgba color) {
  const auto channel = [color](unsigned shift) {
    return static_cast<float>((color >> shift) & 0xFF) / 255;
  };
  glClearColor(channel(0), channel(8), channel(16), 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

}  // namespace

UiContext::UiContext(double device_scale, Clipboard clipboard)
    : scale_(device_scale), clipboard_(std::move(clipboard)) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // leaves no file behind
  io.LogFilename = nullptr;
  io.ConfigInputTextCursorBlink = false;
  for (const KeyMapping& mapping : kKeys) io.KeyMap[mapping.imgui] = static_cast<int>(mapping.key);
  io.ClipboardUserData = this;
  io.GetClipboardTextFn = [](void* self) {
    auto& context = *static_cast<UiContext*>(self);
    context.clipboard_text_ = context.clipboard_.get();
    return context.clipboard_text_.c_str();
  };
  io.SetClipboardTextFn = [](void* self, const char* text) {
    static_cast<UiContext*>(self)->clipboard_.set(text);
  };
  CalmStyle();
  fonts_ = LoadFonts(scale_);
  io.FontGlobalScale = static_cast<float>(1 / scale_);
  ImGui_ImplOpenGL3_Init("#version 330 core");
}

UiContext::~UiContext() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
}

void UiContext::BeginFrame(const Input& input, double width, double height, double seconds) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
  io.DisplayFramebufferScale = {static_cast<float>(scale_), static_cast<float>(scale_)};
  io.DeltaTime = static_cast<float>(std::max(seconds, 1e-4));
  io.MousePos = {static_cast<float>(input.mouse_x), static_cast<float>(input.mouse_y)};
  io.MouseDown[0] = input.left_down;
  io.MouseDown[1] = input.right_down;
  io.MouseWheel = static_cast<float>(input.wheel);
  io.MouseWheelH = static_cast<float>(input.wheel_sideways);
  io.KeyCtrl = input.ctrl;
  io.KeyShift = input.shift;
  for (size_t key = 0; key < kKeyCount; ++key) {
    io.KeysDown[key] = input.held[key] || input.pressed[key] != 0;
  }
  for (const uint32_t character : input.typed) io.AddInputCharacter(character);
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
}

void UiContext::EndFrame(Rgba background, std::span<const Area> areas) {
  ImGui::Render();
  Clear(background);
  glEnable(GL_SCISSOR_TEST);
  const double height = ImGui::GetIO().DisplaySize.y;
  for (const Area& area : areas) {
    // OpenGL counts from below.
    const auto edge = [this](double logical) {
      return static_cast<GLint>(std::lround(logical * scale_));
    };
    const GLint left = edge(area.rect.x);
    const GLint below = edge(height - area.rect.bottom());
    glScissor(left, below, std::max(0, edge(area.rect.right()) - left),
              std::max(0, edge(height - area.rect.y) - below));
    Clear(area.color);
  }
  glDisable(GL_SCISSOR_TEST);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  glFinish();
}

bool UiContext::wants_keyboard() const { return ImGui::GetIO().WantTextInput; }

bool UiContext::wants_mouse() const { return ImGui::GetIO().WantCaptureMouse; }

}  // namespace nanolane::desktop
