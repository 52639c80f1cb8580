#include "clients/desktop/view/scope_popover.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "clients/desktop/view/panels.h"

namespace nanolane::desktop {
namespace {

constexpr double kWidth = 460;
constexpr double kPad = 8;
constexpr double kField = 28;
constexpr double kRow = 42;
constexpr double kFoot = 26;

const char* HintOf(ScopePart part) {
  switch (part) {
    case ScopePart::kProject: return "Type to narrow the projects";
    case ScopePart::kHost: return "Type to narrow the hosts";
    case ScopePart::kProcess: return "Type to narrow the captures";
    case ScopePart::kGpu: return "Type to narrow the GPUs";
    case ScopePart::kTime: return "Type to narrow, or a range: 14:02..14:12";
  }
  return "";
}

void PaintRow(Painter& painter, const Rect& row, const Choice& choice, bool at_cursor) {
  const Theme& theme = painter.theme();
  if (at_cursor) painter.Fill(row, theme.line, 4);
  if (choice.chosen) painter.Fill({row.x + 2, row.y + 8, 3, row.height - 16}, theme.accent, 1.5);
  const double x = row.x + 14;
  double room = row.width - 28;
  if (choice.live) {
    const double badge = Painter::Width(painter.fonts().small, "live") + 22;
    painter.Dot(row.right() - badge, row.y + 14, 3.5, theme.accent);
    painter.TextRight(painter.fonts().small, row.right() - 10, row.y + 5, 18, theme.accent, "live");
    room -= badge + 8;
  }
  painter.Text(painter.fonts().strong, x, row.y + 4, 18, choice.empty ? theme.muted : theme.text,
               choice.title, room);
  painter.Text(painter.fonts().small, x, row.y + 21, 16, choice.empty ? theme.faint : theme.muted,
               choice.detail, row.width - 28);
}

void TypeInto(const UiContext& context, const Theme& theme, const Rect& field, std::string& text) {
  ImGui::SetCursorScreenPos({static_cast<float>(field.x + 4), static_cast<float>(field.y)});
  ImGui::PushFont(context.fonts().body.font);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, 0U);
  ImGui::PushStyleColor(ImGuiCol_Text, theme.text);
  ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, Faded(theme.accent, 0.35));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {4, 6});
  ImGui::SetNextItemWidth(static_cast<float>(field.width - 8));
  if (!ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
  ImGui::InputText("##narrow", &text);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(3);
  ImGui::PopFont();
}

Rect CardOf(const Viewer& viewer, const Rect& chip, size_t rows) {
  const Rect& bar = viewer.screen().top_bar;
  const double width = std::min(kWidth, bar.width - 16);
  const double x = std::clamp(chip.x, 8.0, std::max(8.0, bar.right() - width - 8));
  const double height =
      kPad + kField + 6 + kRow * static_cast<double>(std::max<size_t>(rows, 1)) + kFoot;
  return {x, chip.bottom() + 6, width, height};
}

void PaintList(Painter& painter, const Rect& card, const Pointer& pointer, ScopeDesk& desk) {
  const Theme& theme = painter.theme();
  ScopePicker& picker = desk.picker();
  const size_t matching = picker.matching().size();
  const size_t shown = std::min(matching - std::min(picker.first(), matching), ScopePicker::kRows);
  double y = card.y + kPad + kField + 6;
  if (matching == 0) {
    painter.Text(painter.fonts().body, card.x + 22, y, kRow, theme.muted,
                 picker.choices().empty() ? "Nothing has been recorded there" : "Nothing matches",
                 card.width - 44);
  }
  std::optional<size_t> taken;
  for (size_t i = 0; i < shown; ++i) {
    const size_t index = picker.first() + i;
    const Rect row{card.x + kPad, y, card.width - 2 * kPad, kRow};
    if (pointer.moved && pointer.In(row)) picker.PointAt(index);
    PaintRow(painter, row, picker.choices()[picker.matching()[index]], index == picker.cursor());
    if (pointer.pressed && pointer.In(row)) taken = index;
    y += kRow;
  }
  const double foot = card.bottom() - kFoot;
  painter.TextRight(painter.fonts().small, card.right() - 16, foot, kFoot - 2, theme.faint,
                    matching == picker.choices().size()
                        ? absl::StrCat(matching)
                        : absl::StrCat(matching, " of ", picker.choices().size()));
  painter.Text(painter.fonts().tick, card.x + 16, foot, kFoot - 2, theme.faint, "↑ ↓  enter  esc");
  if (taken.has_value()) desk.TakeRow(*taken);
}

}  // namespace

void ShowScopePopover(const UiContext& context, const Theme& theme, const Viewer& viewer,
                      const ScopeChips& chips, const Pointer& pointer, ScopeDesk& desk) {
  if (pointer.pressed) {
    for (size_t part = 0; part < chips.size(); ++part) {
      if (!chips[part].has_value() || !pointer.In(*chips[part])) continue;
      desk.TogglePicker(static_cast<ScopePart>(part));
      return;
    }
  }
  const std::optional<ScopePart> part = desk.picker().part();
  if (!part.has_value()) return;
  const std::optional<Rect>& chip = chips[static_cast<size_t>(*part)];
  if (!chip.has_value()) return desk.picker().Close();
  const Rect card =
      CardOf(viewer, *chip, std::min(desk.picker().matching().size(), ScopePicker::kRows));
  if (pointer.pressed && !pointer.In(card)) return desk.picker().Close();

  // Over everything, so that nothing under it gets the mouse.
  constexpr ImGuiWindowFlags kBare = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground |
                                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings;
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("scope picker", nullptr, kBare);
  Painter painter(*ImGui::GetWindowDrawList(), theme, context.fonts());
  PaintCard(painter, card);
  const Rect field{card.x + kPad, card.y + kPad, card.width - 2 * kPad, kField};
  painter.Fill(field, theme.background, 4);
  painter.Frame(field, theme.line, 4);
  TypeInto(context, theme, field, desk.picker().text());
  if (desk.picker().text().empty()) {
    painter.Text(context.fonts().body, field.x + 14, field.y, field.height, theme.faint,
                 HintOf(*part), field.width - 20);
  }
  PaintList(painter, card, pointer, desk);
  ImGui::End();
}

}  // namespace nanolane::desktop
