#include "clients/desktop/view/main_view.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "clients/desktop/model/label_boxes.h"
#include "clients/desktop/view/chrome.h"
#include "clients/desktop/view/legend.h"
#include "clients/desktop/view/panels.h"
#include "clients/desktop/view/scope_popover.h"

namespace nanolane::desktop {

MainView::MainView(UiContext& context, ThemeName theme, std::string server)
    : context_(context), theme_(ThemeOf(theme)), server_(std::move(server)) {}

void MainView::NoteFrame(double milliseconds) {
  frame_ms_ = frame_ms_ == 0 ? milliseconds : frame_ms_ * 0.9 + milliseconds * 0.1;
}

void MainView::Draw(Viewer& viewer, const Loaded& loaded, const Input& input, double seconds) {
  const ScreenLayout& screen = viewer.screen();
  context_.BeginFrame(input, screen.top_bar.width, screen.status.bottom(), seconds);
  Paint(viewer, loaded, input);
  context_.EndFrame(theme_.background, Areas(viewer));
}

std::vector<Area> MainView::Areas(const Viewer& viewer) const {
  const ScreenLayout& screen = viewer.screen();
  std::vector<Area> areas = {{screen.top_bar, theme_.panel}, {screen.status, theme_.raised}};
  if (!viewer.layout().rows().empty()) areas.push_back({screen.details, theme_.panel});
  const Rect area = RowsArea(screen, viewer.layout(), false);
  for (const Row& row : viewer.layout().rows()) {
    if (row.kind != RowKind::kHeader) continue;
    const double top = std::floor(screen.lanes.y + row.y - viewer.scroll());
    const double y = std::clamp(top, area.y, screen.lanes.bottom());
    const double bottom = std::clamp(top + row.height, area.y, screen.lanes.bottom());
    areas.push_back({{0, y, screen.top_bar.width, bottom - y}, theme_.raised});
  }
  return areas;
}

void MainView::Paint(Viewer& viewer, const Loaded& loaded, const Input& input) {
  const TimelineModel& model = loaded.model;
  if (desk_ == &no_desk_) {
    no_desk_.Update(model, {.catalog = nullptr,
                            .density = nullptr,
                            .overview = viewer.session_overview(),
                            .sight = viewer.viewport().shown(),
                            .unix_ns = 0});
  }
  const Pointer pointer = PointerOf(input);
  notices_.Update(loaded);
  lanes_.SetStripFromEvents(!desk_->StripFromServer(OverviewPlot(viewer.screen()).width));
  lanes_.Prepare(viewer, loaded, theme_);
  texture_.Upload(lanes_.atlas());

  Painter below(*ImGui::GetBackgroundDrawList(), theme_, context_.fonts());
  if (!viewer.layout().rows().empty()) {
    PaintRuler(below, viewer, model);
    PaintLiveBadge(below, viewer, model, input);
    lanes_.Paint(below, viewer, model, texture_.name());
    PaintLaneLabels(below, viewer, model);
    PaintHiddenStrip(below, viewer);
    PaintLaneMove(below, viewer);
    PaintMeasure(below, viewer);
    PaintScrollBar(below, viewer);
    PaintOverview(below, viewer, model, *desk_);
    hit_marks_.Paint(below, viewer, model);
    PaintProgress(below, viewer, loaded);
    PaintDetails(below, viewer, model);
  }
  const ScopeChips chips = PaintTopBar(below, viewer, loaded, *desk_, pointer);
  PaintStatusBar(below, viewer, loaded, frame_ms_);
  if (PaintScene(below, viewer, loaded, server_)) viewer.GoToNearest();
  reload_ = ShowNotices(context_.fonts(), theme_, viewer.screen(), notices_) || reload_;

  Painter above(*ImGui::GetForegroundDrawList(), theme_, context_.fonts());
  if (!viewer.layout().rows().empty()) PaintLegend(below, viewer, model, input);
  search_.Paint(below, above, viewer);
  if (!desk_->picker().open()) {
    PaintHoverCard(above, viewer, model, input);
    PaintOverviewCard(above, viewer, *desk_, input);
  }
  ShowScopePopover(context_, theme_, viewer, chips, pointer, *desk_);
  PaintLaneMenu(above, viewer);
  if (viewer.keys_shown()) PaintKeys(above, viewer.screen());
}

Pointer MainView::PointerOf(const Input& input) {
  Pointer pointer{.x = input.mouse_x,
                  .y = input.mouse_y,
                  .pressed = input.left_down && !left_was_down_,
                  .moved = input.mouse_x != pointer_.x || input.mouse_y != pointer_.y};
  left_was_down_ = input.left_down;
  pointer_ = pointer;
  return pointer;
}

}  // namespace nanolane::desktop
