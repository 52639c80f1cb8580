#include "clients/desktop/view/main_view.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/view/chrome.h"
#include "clients/desktop/view/panels.h"
#include "libs/base/number_text.h"

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
    PaintLegend(below, viewer, model);
    PaintMeasure(below, viewer);
    PaintScrollBar(below, viewer);
    PaintOverview(below, viewer);
    PaintDetails(below, viewer, model);
  }
  PaintTopBar(below, viewer, loaded);
  PaintStatusBar(below, viewer, loaded, frame_ms_);
  PaintScene(below, viewer, loaded, server_);
  PaintSearch(below, viewer);

  Painter above(*ImGui::GetForegroundDrawList(), theme_, context_.fonts());
  PaintHoverCard(above, viewer, model, input);
  if (viewer.keys_shown()) PaintKeys(above, viewer.screen());
}

void MainView::PaintSearch(Painter& painter, Viewer& viewer) {
  const Rect& bar = viewer.screen().top_bar;
  const Rect box{bar.right() - kSearchWidth - 14, bar.y + 10, kSearchWidth, 24};
  painter.Fill(box, theme_.raised, kRadius);
  const bool bad = !viewer.search().error().empty();
  const double ring_x = box.x + 15;
  const double ring_y = box.y + 11;
  painter.list().AddCircle({static_cast<float>(ring_x), static_cast<float>(ring_y)}, 4,
                           theme_.muted, 16, 1.25F);
  painter.list().AddLine({static_cast<float>(ring_x + 3), static_cast<float>(ring_y + 3)},
                         {static_cast<float>(ring_x + 6), static_cast<float>(ring_y + 6)},
                         theme_.muted, 1.25F);
  const auto pos = ImVec2(static_cast<float>(box.x + 26), static_cast<float>(box.y));
  ImGui::SetNextWindowPos(pos);
  ImGui::SetNextWindowSize({static_cast<float>(kSearchWidth - 100), 24});
  constexpr ImGuiWindowFlags kBare = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground |
                                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
  ImGui::Begin("search", nullptr, kBare);
  ImGui::PushFont(context_.fonts().body.font);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, 0U);
  ImGui::PushStyleColor(ImGuiCol_Text, theme_.text);
  ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, Faded(theme_.accent, 0.35));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {4, 5});
  ImGui::SetNextItemWidth(static_cast<float>(kSearchWidth - 100));
  if (viewer.wants_search_focus()) ImGui::SetKeyboardFocusHere();
  ImGui::InputText("##pattern", &search_text_);
  const bool typing = ImGui::IsItemActive();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(3);
  ImGui::PopFont();
  ImGui::End();
  ImGui::PopStyleVar();
  viewer.search().SetPattern(search_text_);
  painter.Frame(box, bad ? theme_.error : typing ? theme_.accent : theme_.line, kRadius);
  if (search_text_.empty() && !typing) {
    painter.Text(painter.fonts().body, box.x + 30, box.y, box.height, theme_.faint,
                 "Search names (regex)");
    painter.TextRight(painter.fonts().number, box.right() - 12, box.y, box.height, theme_.faint,
                      "/");
  } else if (viewer.search().active()) {
    const size_t hits = viewer.hits().Count(viewer.viewport().shown());
    const std::string count =
        bad ? "not a regex" : absl::StrCat(base::GroupedCount(hits), hits == 1 ? " hit" : " hits");
    painter.TextRight(painter.fonts().small, box.right() - 10, box.y, box.height,
                      bad ? theme_.error : theme_.muted, count);
  }
}

}  // namespace nanolane::desktop
