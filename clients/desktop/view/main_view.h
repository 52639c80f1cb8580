// One frame of the viewer: everything in its place, in the order in which it lies. UI thread only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "clients/desktop/model/notices.h"
#include "clients/desktop/model/scope_desk.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/render/atlas_texture.h"
#include "clients/desktop/view/chrome.h"
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

  // What the pickers and the strip are about; it must live as long as this. Without one there is
  // nothing to choose from.
  void SetScope(ScopeDesk& desk) { desk_ = &desk; }
  // Whether somebody has asked for the session to be loaded again, once.
  bool TakeReload() { return std::exchange(reload_, false); }

  const Theme& theme() const { return theme_; }
  // What of the lanes was in sight in the last frame.
  const LanesInSight& sight() const { return lanes_.sight(); }
  // Shown in the status bar: a running mean.
  void NoteFrame(double milliseconds);
  void SetFrameMs(double milliseconds) { frame_ms_ = milliseconds; }
  double frame_ms() const { return frame_ms_; }

 private:
  void Paint(Viewer& viewer, const Loaded& loaded, const Input& input);
  std::vector<Area> Areas(const Viewer& viewer) const;

  Pointer PointerOf(const Input& input);

  UiContext& context_;
  const Theme& theme_;
  const std::string server_;
  LanesView lanes_;
  AtlasTexture texture_;
  SearchBox search_;
  HitMarks hit_marks_;
  double frame_ms_ = 0;
  ScopeDesk no_desk_;
  ScopeDesk* desk_ = &no_desk_;
  NoticeBoard notices_;
  Pointer pointer_;
  bool left_was_down_ = false;
  bool reload_ = false;
};

}  // namespace nanolane::desktop
