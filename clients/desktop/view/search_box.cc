#include "clients/desktop/view/search_box.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "clients/desktop/view/chrome.h"
#include "clients/desktop/view/panels.h"
#include "libs/base/number_text.h"
#include "libs/base/time_text.h"

namespace nanolane::desktop {
namespace {

constexpr double kButton = 26;     // at the right end of the field
constexpr double kCountRoom = 96;  // for the number of hits
constexpr double kCardPad = 12;
constexpr double kCardRow = 32;
constexpr double kCardWidth = 260;

constexpr ImGuiWindowFlags kBare = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground |
                                   ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings;

ImVec2 At(double x, double y) { return {static_cast<float>(x), static_cast<float>(y)}; }

// A text field without a frame of its own. True: edited.
bool BareField(const char* id, const Rect& place, const Painter& painter, bool focus,
               std::string& text, bool& typing) {
  const Theme& theme = painter.theme();
  ImGui::SetCursorScreenPos(At(place.x, place.y));
  ImGui::PushFont(painter.fonts().body.font);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, 0U);
  ImGui::PushStyleColor(ImGuiCol_Text, theme.text);
  ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, Faded(theme.accent, 0.35));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {4, 5});
  ImGui::SetNextItemWidth(static_cast<float>(place.width));
  if (focus) ImGui::SetKeyboardFocusHere();
  const bool edited = ImGui::InputText(id, &text);
  typing = ImGui::IsItemActive();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(3);
  ImGui::PopFont();
  return edited;
}

void PaintGlass(Painter& painter, double x, double y) {
  const Rgba color = painter.theme().muted;
  painter.list().AddCircle(At(x, y), 4, color, 16, 1.25F);
  painter.list().AddLine(At(x + 3, y + 3), At(x + 6, y + 6), color, 1.25F);
}

}  // namespace

std::string SearchSummary(const Viewer& viewer) {
  if (!viewer.search().error().empty()) return viewer.search().error();
  const SearchHits::Totals& totals = viewer.hits().totals();
  std::string text =
      absl::StrCat(base::GroupedCount(totals.events), totals.events == 1 ? " hit" : " hits");
  if (totals.events > 0) {
    const auto mean = totals.duration_ns / static_cast<Wide>(totals.events);
    absl::StrAppend(&text, " · ", base::FormatDuration(ClampToInt64(totals.duration_ns)),
                    " in all · mean ", base::FormatDuration(ClampToInt64(mean)));
  }
  if (!totals.complete) text += " · counting stacks";
  return text;
}

void SearchBox::Paint(Painter& painter, Painter& above, Viewer& viewer) {
  const Rect& bar = viewer.screen().top_bar;
  const Rect box{bar.right() - kSearchWidth - 14, bar.y + 10, kSearchWidth, 24};
  PaintField(painter, box, viewer);
  PaintFilterButton(painter, {box.right() - kButton, box.y, kButton, box.height}, viewer);
  if (viewer.filter_shown()) return PaintFilterCard(painter, box, viewer);
  const bool bad = !viewer.search().error().empty();
  if (!viewer.search().active() || (!typing_ && !bad)) return;
  const std::string summary = SearchSummary(viewer);
  const double most = std::min(bar.right() - 28, 560.0);
  const double width = std::min(most, Painter::Width(above.fonts().small, summary) + 2 * kCardPad);
  const Rect card{std::floor(box.right() - width), box.bottom() + 6, std::ceil(width), 26};
  PaintCard(above, card);
  above.Text(above.fonts().small, card.x + kCardPad, card.y, card.height,
             bad ? above.theme().error : above.theme().text, summary, card.width - 2 * kCardPad);
}

void SearchBox::PaintField(Painter& painter, const Rect& box, Viewer& viewer) {
  const Theme& theme = painter.theme();
  painter.Fill(box, theme.raised, kRadius);
  PaintGlass(painter, box.x + 15, box.y + 11);
  const Rect field{box.x + 26, box.y, box.width - 26 - kCountRoom - kButton + 20, box.height};
  ImGui::SetNextWindowPos(At(field.x, field.y));
  ImGui::SetNextWindowSize(At(field.width, field.height));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
  ImGui::Begin("search", nullptr, kBare);
  BareField("##pattern", field, painter, viewer.wants_search_focus(), pattern_, typing_);
  ImGui::End();
  ImGui::PopStyleVar();
  viewer.search().SetPattern(pattern_);
  const bool bad = !viewer.search().error().empty();
  painter.Frame(box, bad ? theme.error : typing_ ? theme.accent : theme.line, kRadius);
  const double right = box.right() - kButton - 4;
  if (pattern_.empty() && !typing_) {
    painter.Text(painter.fonts().body, box.x + 30, box.y, box.height, theme.faint,
                 "Search names, frames (regex)", right - box.x - 46);
    painter.TextRight(painter.fonts().number, right, box.y, box.height, theme.faint, "/");
  } else if (viewer.search().active()) {
    const uint64_t hits = viewer.hits().totals().events;
    painter.TextRight(
        painter.fonts().small, right, box.y, box.height, bad ? theme.error : theme.muted,
        bad ? "no regex" : absl::StrCat(base::GroupedCount(hits), hits == 1 ? " hit" : " hits"));
  }
}

void SearchBox::PaintFilterButton(Painter& painter, const Rect& button, Viewer& viewer) const {
  const Theme& theme = painter.theme();
  ImGui::SetNextWindowPos(At(button.x, button.y));
  ImGui::SetNextWindowSize(At(button.width, button.height));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
  ImGui::Begin("filter button", nullptr, kBare);
  ImGui::SetCursorScreenPos(At(button.x, button.y));
  if (ImGui::InvisibleButton("##filter", At(button.width, button.height))) viewer.ToggleFilter();
  const bool hovered = ImGui::IsItemHovered();
  ImGui::End();
  ImGui::PopStyleVar();
  // Three lines, each shorter than the one above: a funnel.
  const EventFilter& filter = viewer.filter();
  const bool set = filter.by_duration() || !filter.streams.empty();
  const Rgba color = set                                ? theme.accent
                     : hovered || viewer.filter_shown() ? theme.text
                                                        : theme.muted;
  painter.VerticalLine(button.x, button.y + 5, button.bottom() - 5, theme.line);
  const double center = button.x + button.width / 2;
  for (int line = 0; line < 3; ++line) {
    const double half = 5.0 - 2 * line;
    painter.Fill({center - half, button.y + 8 + 4.0 * line, 2 * half, 1.5}, color);
  }
}

bool SearchBox::Field(Painter& painter, const Rect& place, const char* label, const char* hint,
                      bool good, std::string& text) const {
  const Theme& theme = painter.theme();
  constexpr double kLabel = 74;
  painter.Text(painter.fonts().body, place.x, place.y, 24, theme.muted, label, kLabel);
  const Rect box{place.x + kLabel, place.y, place.width - kLabel, 24};
  painter.Fill(box, theme.panel, 4);
  bool typing = false;
  const bool edited =
      BareField(absl::StrCat("##", label).c_str(), box, painter, false, text, typing);
  painter.Frame(box, !good ? theme.error : typing ? theme.accent : theme.line, 4);
  if (text.empty() && !typing) {
    painter.Text(painter.fonts().body, box.x + 6, box.y, 24, theme.faint, hint, box.width - 12);
  }
  return edited;
}

void SearchBox::PaintFilterCard(const Painter& below, const Rect& under, Viewer& viewer) {
  const Rect card{under.right() - kCardWidth, under.bottom() + 6, kCardWidth,
                  2 * kCardPad + 3 * kCardRow - 8};
  ImGui::SetNextWindowPos(At(card.x, card.y));
  ImGui::SetNextWindowSize(At(card.width, card.height));
  ImGui::Begin("filter card", nullptr, kBare);
  // Into the window's own list, so that the card lies below its fields and above all else.
  Painter own(*ImGui::GetWindowDrawList(), below.theme(), below.fonts());
  PaintCard(own, card);
  Rect place{card.x + kCardPad, card.y + kCardPad, card.width - 2 * kCardPad, 24};
  EventFilter& filter = viewer.filter();
  if (Field(own, place, "at least", "10us", least_good_, least_)) {
    least_good_ = SetBound(least_, filter.least_ns);
  }
  place.y += kCardRow;
  if (Field(own, place, "at most", "1ms", most_good_, most_)) {
    most_good_ = SetBound(most_, filter.most_ns);
  }
  place.y += kCardRow;
  if (Field(own, place, "streams", "all, or 7 14", streams_good_, streams_)) {
    streams_good_ = SetStreams(streams_, filter.streams);
  }
  ImGui::End();
}

}  // namespace nanolane::desktop
