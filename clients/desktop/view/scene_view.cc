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
          "F  shows everything", false};
}

Message MessageOf(const Viewer& viewer, const Loaded& loaded, std::string_view server) {
  switch (viewer.scene()) {
    case Scene::kConnecting:
      return {"Connecting", absl::StrCat("Asking ", std::string(server), " for its sessions."), "",
              false};
    case Scene::kNoServer:
      return {"No server at " + std::string(server),
              "This window opens by itself as soon as one is there. To start one:", "nanolane up",
              false};
    case Scene::kNoSession:
      return {"No session yet", std::string(loaded.failure.message()),
              "nanolane import trace.json.gz", false};
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

}  // namespace

void PaintScene(Painter& painter, const Viewer& viewer, const Loaded& loaded,
                std::string_view server) {
  if (viewer.scene() == Scene::kTimeline) return;
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
  if (message.hint.empty()) return;
  const double width = Painter::Width(fonts.number, message.hint) + 28;
  const Rect chip{std::floor(center - width / 2), y, std::ceil(width), 28};
  painter.Fill(chip, whole ? theme.raised : theme.panel, kRadius);
  painter.Frame(chip, theme.line, kRadius);
  painter.TextCentered(fonts.number, center, y, 28, theme.text, message.hint);
}

}  // namespace nanolane::desktop
