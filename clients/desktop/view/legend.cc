#include "clients/desktop/view/legend.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace nanolane::desktop {
namespace {

constexpr double kLine = 22;
constexpr double kSwatch = 9;
constexpr double kGap = 18;  // between entries

ImVec2 At(double x, double y) { return {static_cast<float>(x), static_cast<float>(y)}; }

struct Click {
  bool once = false;
  bool twice = false;
};

// An entry of `width` at (x, y), painted by its state.
Click PaintEntry(Painter& painter, int id, double x, double y, double width,
                 const LegendEntry& entry, Shown shown) {
  const Theme& theme = painter.theme();
  ImGui::SetCursorScreenPos(At(x - 4, y));
  ImGui::PushID(id);
  ImGui::InvisibleButton("##entry", At(width + 8, kLine));
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered();
  if (hovered) painter.Fill({x - 4, y, width + 8, kLine}, theme.raised, 4);
  double text_x = x;
  if (entry.colour != LegendEntry::Colour::kNone) {
    const Rect swatch{x, y + (kLine - kSwatch) / 2, kSwatch, kSwatch};
    const Rgba color = ColorOf(theme, entry);
    if (shown == Shown::kNot) {
      painter.Frame(swatch, theme.faint, 1);
    } else {
      painter.Fill(swatch, color, 1);
    }
    text_x += kSwatch + 7;
  }
  const Rgba ink = shown == Shown::kNot ? theme.faint : hovered ? theme.text : theme.muted;
  painter.Text(painter.fonts().small, text_x, y, kLine, ink, entry.label);
  if (shown == Shown::kNot) {  // not by colour alone
    painter.HorizontalLine(text_x, x + width, y + kLine / 2, theme.faint);
  }
  const bool left = hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  const bool twice = hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  return {left && !twice, twice};
}

double WidthOf(const Painter& painter, const LegendEntry& entry) {
  const double swatch = entry.colour == LegendEntry::Colour::kNone ? 0 : kSwatch + 7;
  return std::ceil(Painter::Width(painter.fonts().small, entry.label)) + swatch;
}

}  // namespace

Rgba ColorOf(const Theme& theme, const LegendEntry& entry) {
  if (entry.colour == LegendEntry::Colour::kCategory) {
    return theme.OfCategory(static_cast<trace::Category>(entry.of));
  }
  if (entry.colour == LegendEntry::Colour::kNone) return 0;
  switch (static_cast<trace::Language>(entry.of)) {
    case trace::Language::kPython: return theme.python;
    case trace::Language::kCpp:
    case trace::Language::kC: return theme.cpp;
    case trace::Language::kCuda: return theme.cuda;
    default: return theme.other_language;
  }
}

void PaintLegend(const Painter& below, Viewer& viewer, const TimelineModel& model,
                 const Input& input) {
  const Rect& lanes = viewer.screen().lanes;
  if (lanes.height < 2 * kLegendHeight) return;
  const double content = lanes.y + viewer.layout().rows_height() - viewer.scroll();
  const double top = std::floor(std::min(content, lanes.bottom() - kLegendHeight));
  const std::vector<LegendEntry> entries = LegendOf(model, viewer.filtered().languages().all());
  const LegendEntry all{.label = "all", .categories = kEverything};

  ImGui::SetNextWindowPos(At(lanes.x, top));
  // No wider than its entries: the lanes beside them stay the mouse's.
  double width = 12 + WidthOf(below, all) + kGap;
  for (const LegendEntry& entry : entries) width += WidthOf(below, entry) + kGap;
  ImGui::SetNextWindowSize(At(std::min(width + kGap, lanes.width), kLegendHeight));
  ImGui::Begin("legend", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav);
  Painter painter(*ImGui::GetWindowDrawList(), below.theme(), below.fonts());
  if (content > top) {  // it lies over rows
    painter.list().PushClipRectFullScreen();
    painter.Fill({lanes.x, top, lanes.width, kLegendHeight}, painter.theme().background);
    painter.HorizontalLine(lanes.x, lanes.right(), top, painter.theme().line);
    painter.list().PopClipRect();
  }
  EventFilter& filter = viewer.filter();
  const double y = top + std::floor((kLegendHeight - kLine) / 2);
  double x = lanes.x + 12;
  const bool whole = filter.categories == kEverything && filter.languages == kEverything;
  const double all_width = WidthOf(painter, all);
  const Click reset = PaintEntry(painter, -1, x, y, all_width, all, Shown::kWholly);
  if (reset.once || reset.twice) filter.categories = filter.languages = kEverything;
  if (whole) painter.HorizontalLine(x, x + all_width, y + kLine - 3, painter.theme().accent);
  x += all_width + kGap;
  for (size_t i = 0; i < entries.size(); ++i) {
    const LegendEntry& entry = entries[i];
    const double entry_width = WidthOf(painter, entry);
    if (x + entry_width > lanes.right() - 8) break;
    // Categories and languages are different questions.
    const bool first_language = entry.categories == 0 && i > 0 && entries[i - 1].categories != 0;
    if (first_language) {
      painter.VerticalLine(x - kGap / 2, y + 4, y + kLine - 4, painter.theme().line);
      x += kGap / 2;
    }
    const Click click =
        PaintEntry(painter, static_cast<int>(i), x, y, entry_width, entry, ShownOf(filter, entry));
    if (click.twice || (click.once && input.alt)) {
      ShowAlone(entry, filter);
    } else if (click.once) {
      Toggle(entry, filter);
    }
    x += entry_width + kGap;
  }
  ImGui::End();
}

}  // namespace nanolane::desktop
