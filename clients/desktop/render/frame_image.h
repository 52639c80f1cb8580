// An off-screen picture: what a frame is drawn into without a window, and how it becomes a PNG.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace nanolane::desktop {

// Pixels from the top left, RGBA.
struct Image {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint32_t> pixels;

  uint32_t At(uint32_t x, uint32_t y) const { return pixels[static_cast<size_t>(y) * width + x]; }
};

// A colour buffer to draw into. Needs a current context from Create to destruction.
class FrameTarget {
 public:
  static absl::StatusOr<FrameTarget> Create(uint32_t width, uint32_t height);
  FrameTarget(FrameTarget&& other) noexcept;
  FrameTarget& operator=(FrameTarget&&) = delete;
  ~FrameTarget();

  // Directs drawing here.
  void Bind() const;
  // What was drawn.
  Image Read() const;

 private:
  FrameTarget(uint32_t width, uint32_t height) : width_(width), height_(height) {}

  uint32_t width_;
  uint32_t height_;
  unsigned buffer_ = 0;
  unsigned color_ = 0;
};

// What the current context's window shows, `width` x `height` pixels from its lower left.
Image ReadPixels(uint32_t width, uint32_t height);

// Errors say which path and why.
absl::Status WritePng(const Image& image, const std::string& path);

}  // namespace nanolane::desktop
