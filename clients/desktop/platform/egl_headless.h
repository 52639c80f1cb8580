// An OpenGL 3.3 core context without any display: EGL on Mesa's surfaceless platform. There is no
// window and no default framebuffer; draw into a FrameTarget.
#pragma once

#include <memory>

#include "absl/status/statusor.h"

namespace nanolane::desktop {

// The context is current on the thread that created it until it is destroyed there.
class EglHeadless {
 public:
  static absl::StatusOr<std::unique_ptr<EglHeadless>> Create();
  ~EglHeadless();
  EglHeadless(const EglHeadless&) = delete;
  EglHeadless& operator=(const EglHeadless&) = delete;

 private:
  EglHeadless() = default;

  void* display_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace nanolane::desktop
