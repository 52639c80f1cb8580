#include "clients/desktop/render/atlas_texture.h"

#include "clients/desktop/render/gl.h"

namespace nanolane::desktop {

AtlasTexture::AtlasTexture() {
  glGenTextures(1, &name_);
  glBindTexture(GL_TEXTURE_2D, name_);
  // One texel is one pixel column: anything but the nearest one would be a lie.
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

AtlasTexture::~AtlasTexture() { glDeleteTextures(1, &name_); }

void AtlasTexture::Upload(LaneAtlas& atlas) {
  const auto [from, to] = atlas.TakeDirty();
  if (atlas.width() == 0 || atlas.height() == 0) return;
  const bool resized = atlas.width() != width_ || atlas.height() != height_;
  if (!resized && from == to) return;
  glBindTexture(GL_TEXTURE_2D, name_);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  const auto width = static_cast<GLsizei>(atlas.width());
  if (resized) {
    width_ = atlas.width();
    height_ = atlas.height();
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, static_cast<GLsizei>(height_), 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, atlas.texels().data());
    return;
  }
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, static_cast<GLint>(from), width,
                  static_cast<GLsizei>(to - from), GL_RGBA, GL_UNSIGNED_BYTE,
                  atlas.TexelRow(from).data());
}

}  // namespace nanolane::desktop
