// One frame of the viewer: everything in its place, in the order in which it lies. UI thread only.
#pragma once

#include <string>
#include <vector>

#include "clients/desktop/model/viewer.h"
#include "clients/desktop/render/atlas_texture.h"
#include "clients/desktop/view/hit_marks.h"
#include "clients/desktop/view/lanes_view.h"
#include "clients/desktop/view/search_box.h"
#include "clients/desktop/view/ui_context.h"

namespace nanolane::desktop {

class MainView {
 public:
  MainView(UiContext& context, ThemeName theme, std::string server);

  // One frame into the bound framebuffer.
  void Draw(Viewer& viewer, const Loaded& loaded, const Input& input, double seconds);

  const Theme& theme() const { return theme_; }
  // Shown in the status bar: a running mean.
  void NoteFrame(double milliseconds);
  void SetFrameMs(double milliseconds) { frame_ms_ = milliseconds; }
  double frame_ms() const { return frame_ms_; }

 private:
  void Paint(Viewer& viewer, const Loaded& loaded, const Input& input);
  std::vector<Area> Areas(const Viewer& viewer) const;

  UiContext& context_;
  const Theme& theme_;
  const std::string server_;
  LanesView lanes_;
  AtlasTexture texture_;
  SearchBox search_;
  HitMarks hit_marks_;
  double frame_ms_ = 0;
};

}  // namespace nanolane::desktop
