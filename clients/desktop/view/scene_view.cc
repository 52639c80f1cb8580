#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/ruler.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/panels.h"
#include "libs/base/time_text.h"

namespace nanolane::desktop {
namespace {

struct Message {
  std::string title;
  std::string text;
  std::string hint;  // a command or a key, monospaced; may be empty
  bool failed = false;
};

std::string Since(const TimelineModel& model, int64_t time_ns) {
  return base::FormatDuration(ClampToInt64(static_cast<Wide>(time_ns) - model.origin_ns()));
}

Message NothingInWindow(const Viewer& viewer, const TimelineModel& model) {
  const timeline::Window& window = viewer.viewport().shown();
  const timeline::Window extent = model.extent();
  return {"Nothing in this window",
          absl::StrCat("No events from ", Since(model, window.start_ns), " to ",
                       Since(model, window.end_ns), "; the session runs from ",
                       Since(model, extent.start_ns), " to ", Since(model, extent.end_ns), "."),
          viewer.nearest().has_value()
              ? absl::StrCat("enter  the nearest event, ",
                             base::FormatDuration(viewer.nearest()->distance_ns),
                             viewer.nearest()->later ? " later" : " earlier")
              : "F  shows everything",
          false};
}

// "tried 3 times, again in 4 s"
std::string RetryText(const Attempt& attempt) {
  const std::string tried =
      absl::StrCat("tried ", attempt.tries == 1 ? "once" : absl::StrCat(attempt.tries, " times"));
  const int64_t seconds = (attempt.retry_in_ns + 999'999'999) / 1'000'000'000;
  if (attempt.retry_in_ns == 0) return absl::StrCat(tried, ", trying now");
  return absl::StrCat(tried, ", again in ", seconds, " s");
}

// Nothing at all is there yet, or not the one that was asked for.
Message NoSession(const Loaded& loaded, std::string_view server) {
  const std::string text(loaded.failure.message());
  if (text.find("no sessions") == std::string::npos) {
    return {"No such session", text, "nanolane ls", false};
  }
  return {"Nothing has been recorded yet",
          absl::StrCat("The first session at ", std::string(server),
                       " shows up here by itself. Record a process, or import a trace:"),
          "nanolane run -- python3 train.py     nanolane import trace.json.gz", false};
}

Message MessageOf(const Viewer& viewer, const Loaded& loaded, std::string_view server) {
  switch (viewer.scene()) {
    case Scene::kConnecting:
      return {"Connecting", absl::StrCat("Asking ", std::string(server), " for its sessions."), "",
              false};
    case Scene::kNoServer:
      return {absl::StrCat("No server at ", std::string(server)),
              absl::StrCat("The timeline opens by itself as soon as one answers there; ",
                           RetryText(loaded.attempt), ". To start one:"),
              "nanolane up", false};
    case Scene::kNoSession: return NoSession(loaded, server);
    case Scene::kFailed:
      return {"The timeline could not be opened", std::string(loaded.failure.message()), "", true};
    case Scene::kEmpty: return {"An empty session", "Nothing was recorded in it.", "", false};
    case Scene::kWaiting:
      return {"Recording, nothing has happened yet",
              "Events appear here as soon as the process makes some.", "", false};
    case Scene::kNoEvents: return NothingInWindow(viewer, loaded.model);
    case Scene::kTimeline: break;
  }
  return {};
}

// Whether `box` was clicked. A window of ImGui's, so that the lanes under it do not get the click.
bool Button(Painter& painter, const Rect& box) {
  constexpr ImGuiWindowFlags kBare = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground |
                                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                     ImGuiWindowFlags_NoFocusOnAppearing;
  const ImVec2 size{static_cast<float>(box.width), static_cast<float>(box.height)};
  ImGui::SetNextWindowPos({static_cast<float>(box.x), static_cast<float>(box.y)});
  ImGui::SetNextWindowSize(size);
  ImGui::Begin("nearest data", nullptr, kBare);
  const bool pressed = ImGui::InvisibleButton("go", size);
  if (ImGui::IsItemHovered()) painter.Frame(box, painter.theme().accent, kRadius);
  ImGui::End();
  return pressed;
}

}  // namespace

bool PaintScene(Painter& painter, const Viewer& viewer, const Loaded& loaded,
                std::string_view server) {
  if (viewer.scene() == Scene::kTimeline) return false;
  const Message message = MessageOf(viewer, loaded, server);
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  const Rect& lanes = viewer.screen().lanes;
  // In the middle of the window; of the lanes, where there are some.
  const bool whole = viewer.scene() != Scene::kNoEvents;
  const double left = whole ? 0 : lanes.x;
  const double center = std::floor((left + lanes.right()) / 2);
  double y = std::floor(lanes.y + lanes.height / 2) - 44;
  const double room = lanes.right() - left - 64;
  if (!whole) {
    const double width = std::min(room, Painter::Width(fonts.body, message.text) + 64);
    PaintCard(painter, {std::floor(center - width / 2), y - 20, width, 124});
  }
  painter.TextCentered(fonts.title, center, y, 28, message.failed ? theme.error : theme.text,
                       message.title);
  y += 36;
  painter.TextCentered(fonts.body, center, y, 20, theme.muted, message.text);
  y += 32;
  if (message.hint.empty()) return false;
  const double width = Painter::Width(fonts.number, message.hint) + 28;
  const Rect chip{std::floor(center - width / 2), y, std::ceil(width), 28};
  painter.Fill(chip, whole ? theme.raised : theme.panel, kRadius);
  painter.Frame(chip, theme.line, kRadius);
  painter.TextCentered(fonts.number, center, y, 28, theme.text, message.hint);
  if (whole || !viewer.nearest().has_value()) return false;
  return Button(painter, chip);
}

}  // namespace nanolane::desktop
