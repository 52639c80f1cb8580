#include "clients/desktop/view/main_view.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "clients/desktop/view/chrome.h"
#include "clients/desktop/view/legend.h"
#include "clients/desktop/view/panels.h"

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
  for (const Row& row : viewer.layout().rows()) {
    if (row.kind != RowKind::kHeader) continue;
    const double top = std::floor(screen.lanes.y + row.y - viewer.scroll());
    const double y = std::clamp(top, screen.lanes.y, screen.lanes.bottom());
    const double bottom = std::clamp(top + row.height, screen.lanes.y, screen.lanes.bottom());
    areas.push_back({{0, y, screen.top_bar.width, bottom - y}, theme_.raised});
  }
  return areas;
}

void MainView::Paint(Viewer& viewer, const Loaded& loaded, const Input& input) {
  const TimelineModel& model = loaded.model;
  lanes_.Prepare(viewer, model, theme_);
  texture_.Upload(lanes_.atlas());

  Painter below(*ImGui::GetBackgroundDrawList(), theme_, context_.fonts());
  if (!viewer.layout().rows().empty()) {
    PaintRuler(below, viewer, model);
    PaintLiveBadge(below, viewer, model, input);
    lanes_.Paint(below, viewer, model, texture_.name());
    PaintLaneLabels(below, viewer, model);
    PaintMeasure(below, viewer);
    PaintScrollBar(below, viewer);
    PaintOverview(below, viewer);
    hit_marks_.Paint(below, viewer, model);
    PaintDetails(below, viewer, model);
  }
  PaintTopBar(below, viewer, loaded);
  PaintStatusBar(below, viewer, loaded, frame_ms_);
  PaintScene(below, viewer, loaded, server_);

  Painter above(*ImGui::GetForegroundDrawList(), theme_, context_.fonts());
  if (!viewer.layout().rows().empty()) PaintLegend(below, viewer, model, input);
  search_.Paint(below, above, viewer);
  PaintHoverCard(above, viewer, model, input);
  if (viewer.keys_shown()) PaintKeys(above, viewer.screen());
}

}  // namespace nanolane::desktop
