#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "clients/desktop/view/panels.h"

namespace nanolane::desktop {
namespace {

constexpr double kBar = 30;
constexpr double kGap = 6;
constexpr double kLine = 18;
constexpr size_t kMostBars = 3;
constexpr size_t kMostDetails = 8;

Rgba ColorOf(const Theme& theme, Notice::Kind kind) {
  switch (kind) {
    case Notice::Kind::kConnectionLost:
    case Notice::Kind::kMissing: return theme.warning;
    case Notice::Kind::kIncomplete:
    case Notice::Kind::kOpenFailed: return theme.error;
    case Notice::Kind::kEnded: return theme.muted;
  }
  return theme.muted;
}

// Buttons of one bar, from its right edge. Inside its ImGui window, so that a click on the bar is
// not one on the lanes under it.
class Buttons {
 public:
  Buttons(Painter& painter, const Rect& bar)
      : painter_(painter), bar_(bar), right_(bar.right() - 6) {}

  bool Text(const char* label) {
    const double width = Painter::Width(painter_.fonts().small, label) + 16;
    const Rect box = Place(width);
    const bool pressed = Hit(label, box);
    painter_.Frame(
        box, ImGui::IsItemHovered() ? painter_.theme().text : Faded(painter_.theme().muted, 0.5),
        4);
    painter_.TextCentered(painter_.fonts().small, box.x + box.width / 2, box.y, box.height,
                          painter_.theme().text, label);
    return pressed;
  }
  bool Cross() {
    const Rect box = Place(20);
    const bool pressed = Hit("dismiss", box);
    const Rgba color = ImGui::IsItemHovered() ? painter_.theme().text : painter_.theme().muted;
    const auto x = static_cast<float>(box.x + box.width / 2);
    const auto y = static_cast<float>(box.y + box.height / 2);
    painter_.list().AddLine({x - 3.5F, y - 3.5F}, {x + 3.5F, y + 3.5F}, color, 1.25F);
    painter_.list().AddLine({x - 3.5F, y + 3.5F}, {x + 3.5F, y - 3.5F}, color, 1.25F);
    return pressed;
  }
  double left() const { return right_; }

 private:
  Rect Place(double width) {
    const Rect box{right_ - width, bar_.y + (kBar - 20) / 2, width, 20};
    right_ = box.x - 6;
    return box;
  }
  static bool Hit(const char* id, const Rect& box) {
    ImGui::SetCursorScreenPos({static_cast<float>(box.x), static_cast<float>(box.y)});
    return ImGui::InvisibleButton(id,
                                  {static_cast<float>(box.width), static_cast<float>(box.height)});
  }

  Painter& painter_;
  const Rect& bar_;
  double right_;
};

double HeightOf(const Notice& notice, bool unfolded) {
  if (!unfolded) return kBar;
  return kBar + kLine * static_cast<double>(std::min(notice.details.size(), kMostDetails + 1)) + 6;
}

void PaintDetailLines(Painter& painter, const Rect& bar, const Notice& notice) {
  double y = bar.y + kBar - 2;
  for (size_t i = 0; i < notice.details.size(); ++i) {
    const bool rest = i == kMostDetails && notice.details.size() > kMostDetails + 1;
    const std::string text =
        rest ? absl::StrCat("and ", notice.details.size() - i, " more") : notice.details[i];
    painter.Text(painter.fonts().number, bar.x + 30, y, kLine, painter.theme().muted, text,
                 bar.width - 60);
    y += kLine;
    if (rest) return;
  }
}

// True: the session shall be opened again.
bool ShowNotice(const Fonts& fonts, const Theme& theme, const Rect& bar, const Notice& notice,
                NoticeBoard& board) {
  constexpr ImGuiWindowFlags kBare = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground |
                                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                     ImGuiWindowFlags_NoFocusOnAppearing |
                                     ImGuiWindowFlags_NoBringToFrontOnFocus;
  ImGui::SetNextWindowPos({static_cast<float>(bar.x), static_cast<float>(bar.y)});
  ImGui::SetNextWindowSize({static_cast<float>(bar.width), static_cast<float>(bar.height)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
  ImGui::Begin(absl::StrCat("notice ", static_cast<int>(notice.kind)).c_str(), nullptr, kBare);
  Painter painter(*ImGui::GetWindowDrawList(), theme, fonts);
  const Rgba color = ColorOf(theme, notice.kind);
  painter.Fill(bar, theme.raised, 4);
  painter.Fill(bar, Faded(color, 0.08), 4);
  painter.Frame(bar, Faded(color, 0.55), 4);
  painter.Fill({bar.x, bar.y, 3, bar.height}, color, 1.5);
  painter.Dot(bar.x + 16, bar.y + kBar / 2, 3.5, color);
  Buttons buttons(painter, bar);
  const bool unfolded = board.Unfolded(notice.key);
  if (buttons.Cross()) board.Dismiss(notice.key);
  if (!notice.details.empty() && buttons.Text(unfolded ? "fewer" : "details")) {
    board.ToggleDetails(notice.key);
  }
  const bool reopen = notice.reopen && buttons.Text("load again");
  painter.Text(fonts.body, bar.x + 30, bar.y, kBar, theme.text, notice.text,
               buttons.left() - bar.x - 40);
  if (unfolded) PaintDetailLines(painter, bar, notice);
  ImGui::End();
  ImGui::PopStyleVar();
  return reopen;
}

}  // namespace

bool ShowNotices(const Fonts& fonts, const Theme& theme, const ScreenLayout& screen,
                 NoticeBoard& board) {
  const Rect& lanes = screen.lanes;
  bool reopen = false;
  double bottom = lanes.bottom() - 8;
  const std::vector<Notice> notices = board.notices();
  for (size_t i = 0; i < std::min(notices.size(), kMostBars); ++i) {
    const double height = HeightOf(notices[i], board.Unfolded(notices[i].key));
    const Rect bar{lanes.x + 8, std::floor(bottom - height), lanes.width - 16, height};
    if (bar.y < lanes.y) break;
    reopen = ShowNotice(fonts, theme, bar, notices[i], board) || reopen;
    bottom = bar.y - kGap;
  }
  return reopen;
}

}  // namespace nanolane::desktop
