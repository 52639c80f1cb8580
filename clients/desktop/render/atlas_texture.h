// The GPU's copy of a LaneAtlas. Needs a current OpenGL 3.3 context from construction to
// destruction.
#pragma once

#include <cstdint>

#include "clients/desktop/render/lane_atlas.h"

namespace nanolane::desktop {

class AtlasTexture {
 public:
  AtlasTexture();
  ~AtlasTexture();
  AtlasTexture(const AtlasTexture&) = delete;
  AtlasTexture& operator=(const AtlasTexture&) = delete;

  // Sends what has changed since the last call.
  void Upload(LaneAtlas& atlas);
  // OpenGL name of the texture.
  unsigned name() const { return name_; }

 private:
  unsigned name_ = 0;
  uint32_t width_ = 0;
  uint32_t height_ = 0;
};

}  // namespace nanolane::desktop
