#include "clients/desktop/platform/egl_headless.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include "absl/strings/str_cat.h"

namespace nanolane::desktop {
namespace {

absl::Status Failed(const char* what) {
  return absl::UnavailableError(absl::StrCat("cannot draw without a display: ", what,
                                             " fails (EGL error 0x", absl::Hex(eglGetError()),
                                             "); install Mesa's EGL (libegl1)"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<EglHeadless>> EglHeadless::Create() {
  const auto get_display = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
      eglGetProcAddress("eglGetPlatformDisplayEXT"));
  if (get_display == nullptr) return Failed("eglGetPlatformDisplayEXT");
  auto headless = std::unique_ptr<EglHeadless>(new EglHeadless);
  headless->display_ = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
  if (headless->display_ == EGL_NO_DISPLAY) return Failed("the surfaceless platform");
  if (eglInitialize(headless->display_, nullptr, nullptr) != EGL_TRUE)
    return Failed("eglInitialize");
  if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE) return Failed("eglBindAPI");
  const EGLint config_attributes[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                      EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (eglChooseConfig(headless->display_, config_attributes, &config, 1, &count) != EGL_TRUE) {
    return Failed("eglChooseConfig");
  }
  const EGLint context_attributes[] = {EGL_CONTEXT_MAJOR_VERSION,
                                       3,
                                       EGL_CONTEXT_MINOR_VERSION,
                                       3,
                                       EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                       EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                       EGL_NONE};
  // Where no configuration has pbuffers, a context without any does as well.
  headless->context_ = eglCreateContext(headless->display_, count > 0 ? config : EGL_NO_CONFIG_KHR,
                                        EGL_NO_CONTEXT, context_attributes);
  if (headless->context_ == EGL_NO_CONTEXT) return Failed("an OpenGL 3.3 context");
  if (eglMakeCurrent(headless->display_, EGL_NO_SURFACE, EGL_NO_SURFACE, headless->context_) !=
      EGL_TRUE) {
    return Failed("eglMakeCurrent");
  }
  return headless;
}

EglHeadless::~EglHeadless() {
  if (display_ == nullptr) return;
  eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  if (context_ != nullptr) eglDestroyContext(display_, context_);
  eglTerminate(display_);
}

}  // namespace nanolane::desktop
