#include "clients/desktop/platform/screenshot.h"

#include <chrono>
#include <limits>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/scope_desk.h"
#include "clients/desktop/model/session_catalog.h"
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

// What the strip and the chips show, asked for before the picture is drawn.
ScopeAnswers Answers(const CommandLine& line, int64_t now_unix_ns) {
  // Shared with the answers' question, which comes while the picture is drawn.
  const std::shared_ptr<query::v1::QueryService::Stub> stub =
      query::v1::QueryService::NewStub(rpc::OpenChannel(line.server));
  ScopeAnswers answers{
      .catalog = nullptr, .density = nullptr, .ask = nullptr, .unix_ns = now_unix_ns};
  auto listed = ListAllSessions([&](const auto& request, auto& response) {
    grpc::ClientContext context;
    rpc::SetDeadline(context);
    return stub->ListSessions(&context, request, &response);
  });
  // A picture of the timeline is worth having without the strip of its neighbours.
  if (!listed.ok()) return answers;
  answers.catalog = std::make_shared<const CatalogSnapshot>(
      CatalogSnapshot{.version = 1, .sessions = *std::move(listed), .failure = {}});
  answers.ask = [stub](const DensityQuestion& question) -> std::shared_ptr<const DensityAnswer> {
    grpc::ClientContext context;
    rpc::SetDeadline(context);
    query::v1::GetDensityResponse response;
    if (!stub->GetDensity(&context, RequestOf(question), &response).ok()) return nullptr;
    return std::make_shared<const DensityAnswer>(DensityAnswer{question, LayersOf(response)});
  };
  return answers;
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

absl::StatusOr<Image> DrawFrame(const PictureSource& source, const CommandLine& line,
                                ScopeAnswers answers) {
  const auto pixels_wide = line.width * line.scale;
  const auto pixels_high = line.height * line.scale;
  ASSIGN_OR_RETURN(const FrameTarget target, FrameTarget::Create(pixels_wide, pixels_high));
  UiContext context(line.scale, {});
  MainView view(context, line.theme, line.server);
  Viewer viewer({.range = line.range, .device_scale = static_cast<double>(line.scale)});
  ScopeDesk desk;
  view.SetScope(desk);
  Input input;
  // The first frames lay out and fill caches; the last one says what the one before it took.
  constexpr int kMostFrames = 32;
  bool more = true;
  for (int frame = 0; frame < kPictureFrames || (more && frame < kMostFrames); ++frame) {
    const Loaded loaded = source.loaded();
    if (source.hand) source.hand(frame, viewer, input);
    if (frame > 0 && line.expand) ExpandStreams(viewer);
    const auto began = std::chrono::steady_clock::now();
    viewer.Step(loaded, input, line.width, line.height, kFrameSeconds, frame + 1);
    viewer.Settle(loaded.model);
    desk.Update(loaded.model, {.catalog = answers.catalog,
                               .density = answers.density,
                               .overview = viewer.session_overview(),
                               .sight = viewer.viewport().shown(),
                               .unix_ns = answers.unix_ns});
    viewer.SetStrip(desk.strip());
    if (answers.ask != nullptr && answers.density == nullptr) {
      const auto question = desk.Question(viewer.screen().lanes.width * line.scale);
      if (question.has_value()) answers.density = answers.ask(*question);
    }
    if (frame == 0 && line.select) viewer.SelectTypical(loaded.model);
    target.Bind();
    view.Draw(viewer, loaded, input, kFrameSeconds);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    view.SetFrameMs(took.count());
    more = source.show(view.sight());
  }
  return target.Read();
}

absl::StatusOr<Image> DrawFrame(const Loaded& loaded, const CommandLine& line,
                                const FrameHand& hand) {
  return DrawFrame(PictureSource{.loaded = [&loaded] { return loaded; }, .hand = hand}, line);
}

absl::Status TakeScreenshot(const CommandLine& line) {
  const base::SystemClock clock;
  TimelineFeed feed([&line] { return rpc::OpenChannel(line.server); },
                    {.server = line.server,
                     .session = line.session,
                     .range = line.range,
                     .most_events = line.range.has_value() ? std::numeric_limits<uint64_t>::max()
                                                           : line.most_events,
                     .resume = false},
                    clock);
  feed.PumpUntilLoaded();
  RETURN_IF_ERROR(feed.model().status());
  RETURN_IF_ERROR(CheckContent(feed.model(), line));
  ASSIGN_OR_RETURN(const auto context, EglHeadless::Create());
  ASSIGN_OR_RETURN(
      const Image image,
      DrawFrame(PictureSource{
                    .loaded = [&feed] { return feed.loaded(); },
                    .show = [&feed](const LanesInSight& sight) { return feed.ShowAndWait(sight); }},
                line, Answers(line, clock.UnixNanos())));
  return WritePng(image, line.screenshot);
}

}  // namespace nanolane::desktop
