#include "clients/desktop/render/frame_image.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/desktop/render/gl.h"

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace nanolane::desktop {

absl::StatusOr<FrameTarget> FrameTarget::Create(uint32_t width, uint32_t height) {
  GLint most = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &most);
  if (width == 0 || height == 0 || width > static_cast<uint32_t>(most) ||
      height > static_cast<uint32_t>(most)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot draw ", width, "x", height, " pixels; the most is ", most, "x", most));
  }
  FrameTarget target(width, height);
  glGenRenderbuffers(1, &target.color_);
  glBindRenderbuffer(GL_RENDERBUFFER, target.color_);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, static_cast<GLsizei>(width),
                        static_cast<GLsizei>(height));
  glGenFramebuffers(1, &target.buffer_);
  target.Bind();
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, target.color_);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    return absl::InternalError(absl::StrCat("OpenGL refuses a picture of ", width, "x", height));
  }
  return target;
}

FrameTarget::FrameTarget(FrameTarget&& other) noexcept
    : width_(other.width_),
      height_(other.height_),
      buffer_(std::exchange(other.buffer_, 0)),
      color_(std::exchange(other.color_, 0)) {}

FrameTarget::~FrameTarget() {
  if (buffer_ != 0) glDeleteFramebuffers(1, &buffer_);
  if (color_ != 0) glDeleteRenderbuffers(1, &color_);
}

void FrameTarget::Bind() const {
  glBindFramebuffer(GL_FRAMEBUFFER, buffer_);
  glViewport(0, 0, static_cast<GLsizei>(width_), static_cast<GLsizei>(height_));
}

Image FrameTarget::Read() const {
  Bind();
  return ReadPixels(width_, height_);
}

Image ReadPixels(uint32_t width, uint32_t height) {
  Image image{width, height, std::vector<uint32_t>(static_cast<size_t>(width) * height)};
  std::vector<uint32_t> rows(image.pixels.size());
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glReadPixels(0, 0, static_cast<GLsizei>(width), static_cast<GLsizei>(height), GL_RGBA,
               GL_UNSIGNED_BYTE, rows.data());
  constexpr uint32_t kOpaque =
      0xFF000000;  // what lies behind the window is not part of the picture
  for (size_t y = 0; y < height; ++y) {
    const uint32_t* from = rows.data() + (height - 1 - y) * width;
    uint32_t* to = image.pixels.data() + y * width;
    for (size_t x = 0; x < width; ++x) to[x] = from[x] | kOpaque;
  }
  return image;
}

absl::Status WritePng(const Image& image, const std::string& path) {
  int length = 0;
  unsigned char* png =
      stbi_write_png_to_mem(reinterpret_cast<const unsigned char*>(image.pixels.data()),
                            static_cast<int>(image.width * 4), static_cast<int>(image.width),
                            static_cast<int>(image.height), 4, &length);
  if (png == nullptr) return absl::ResourceExhaustedError("no memory for the picture");
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool written = file != nullptr;
  if (written) {
    written = std::fwrite(png, 1, static_cast<size_t>(length), file) == static_cast<size_t>(length);
    written = std::fclose(file) == 0 && written;
  }
  const int error = errno;
  STBIW_FREE(png);
  if (written) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot write \"", path, "\": ", std::strerror(error)));
}

}  // namespace nanolane::desktop
