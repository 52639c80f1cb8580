#include "clients/desktop/platform/screenshot.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/timeline_feed.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/platform/egl_headless.h"
#include "clients/desktop/view/main_view.h"
#include "libs/base/clock.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/channel.h"

namespace nanolane::desktop {
namespace {

constexpr double kFrameSeconds = 1.0 / 60;

// An error where the picture would show nothing.
absl::Status CheckContent(const TimelineModel& model, const CommandLine& line) {
  if (!line.range.has_value()) return absl::OkStatus();
  const Wide origin = model.origin_ns();
  const timeline::Window window{ClampToInt64(origin + line.range->from_ns),
                                ClampToInt64(origin + line.range->to_ns)};
  for (const auto& lane : model.lanes()) {
    if (lane->rows.Count(window) > 0) return absl::OkStatus();
  }
  const auto since = [&](int64_t time_ns) {
    return base::FormatDuration(ClampToInt64(static_cast<Wide>(time_ns) - origin));
  };
  return absl::NotFoundError(
      absl::StrCat("no events from ", base::FormatDuration(line.range->from_ns), " to ",
                   base::FormatDuration(line.range->to_ns), "; the session runs from ",
                   since(model.extent().start_ns), " to ", since(model.extent().end_ns)));
}

// Shows the stacks above every stream that has some.
void ExpandStreams(Viewer& viewer) {
  const std::vector<LaneBlock> blocks = viewer.layout().blocks();
  for (const LaneBlock& block : blocks) {
    if (block.expandable() && !block.expanded) {
      viewer.board().arrangement().SetExpanded(block.key, true);
    }
  }
}

}  // namespace

absl::StatusOr<Image> DrawFrame(const Loaded& loaded, const CommandLine& line,
                                const FrameHand& hand) {
  const auto pixels_wide = line.width * line.scale;
  const auto pixels_high = line.height * line.scale;
  ASSIGN_OR_RETURN(const FrameTarget target, FrameTarget::Create(pixels_wide, pixels_high));
  UiContext context(line.scale, {});
  MainView view(context, line.theme, line.server);
  Viewer viewer({.range = line.range, .device_scale = static_cast<double>(line.scale)});
  Input input;
  // The first frames lay out and fill caches; the last one says what the one before it took.
  for (int frame = 0; frame < kPictureFrames; ++frame) {
    if (hand) hand(frame, viewer, input);
    if (frame > 0 && line.expand) ExpandStreams(viewer);
    const auto began = std::chrono::steady_clock::now();
    viewer.Step(loaded, input, line.width, line.height, kFrameSeconds, frame + 1);
    viewer.Settle(loaded.model);
    if (frame == 0 && line.select) viewer.SelectTypical(loaded.model);
    target.Bind();
    view.Draw(viewer, loaded, input, kFrameSeconds);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    view.SetFrameMs(took.count());
  }
  return target.Read();
}

absl::Status TakeScreenshot(const CommandLine& line) {
  const base::SystemClock clock;
  TimelineFeed feed(
      [&line] { return rpc::OpenChannel(line.server); },
      {.server = line.server, .session = line.session, .range = line.range, .resume = false},
      clock);
  feed.PumpUntilLoaded();
  RETURN_IF_ERROR(feed.model().status());
  RETURN_IF_ERROR(CheckContent(feed.model(), line));
  ASSIGN_OR_RETURN(const auto context, EglHeadless::Create());
  ASSIGN_OR_RETURN(const Image image, DrawFrame(feed.loaded(), line));
  return WritePng(image, line.screenshot);
}

}  // namespace nanolane::desktop
