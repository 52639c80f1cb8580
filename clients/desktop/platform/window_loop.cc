#include "clients/desktop/platform/window_loop.h"

#include <algorithm>

#include "clients/desktop/model/scope_link.h"
#include "clients/desktop/model/session_catalog.h"
#include "clients/desktop/model/timeline_feed.h"
#include "clients/desktop/view/main_view.h"
#include "libs/base/clock.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/channel.h"

namespace nanolane::desktop {
namespace {

constexpr double kIdleSeconds = 0.5;  // how long a still window sleeps at most
constexpr int kFramesAfterEvent = 3;  // hover, focus and figures settle
constexpr double kLongestStep = 0.1;  // a frame after a sleep must not leap

}  // namespace

absl::Status RunWindow(const CommandLine& line, const WindowLoopOptions& options) {
  ASSIGN_OR_RETURN(const auto window,
                   GlfwWindow::Create({.width = line.width, .height = line.height}));
  const base::SystemClock clock;
  TimelineFeed feed([&line] { return rpc::OpenChannel(line.server); },
                    {.server = line.server,
                     .session = line.session,
                     .range = std::nullopt,
                     .on_message = [] { GlfwWindow::Wake(); }},
                    clock);
  UiContext context(window->device_scale(),
                    {.get = [&] { return window->Clipboard(); },
                     .set = [&](const std::string& text) { window->SetClipboard(text); }});
  MainView view(context, line.theme, line.server);
  Viewer viewer({.range = line.range, .device_scale = window->device_scale()});

  SessionCatalog catalog(rpc::OpenChannel(line.server), {.on_change = [] { GlfwWindow::Wake(); }});
  ScopeDesk desk;
  ScopeLink scope(catalog, feed, viewer, desk);
  view.SetScope(desk);

  int64_t last_ns = clock.MonotonicNanos();
  int frames_due = kFramesAfterEvent;
  while (!window->should_close()) {
    window->WaitEvents(frames_due > 0 ? 0 : kIdleSeconds);
    const int64_t began_ns = clock.MonotonicNanos();
    const double seconds = std::min(static_cast<double>(began_ns - last_ns) * 1e-9, kLongestStep);
    last_ns = began_ns;
    const bool changed = feed.Pump(kPumpBudgetNs);
    Input input = window->TakeInput();
    input.typing = context.wants_keyboard();
    input.mouse_taken = context.wants_mouse();
    const Input for_viewer = scope.BeforeStep(input, clock.UnixNanos());
    viewer.Step(feed.loaded(), for_viewer, window->width(), window->height(), seconds, began_ns);
    window->BindFramebuffer();
    view.Draw(viewer, feed.loaded(), input, seconds);
    scope.AfterFrame(view.TakeReload());
    view.NoteFrame(static_cast<double>(clock.MonotonicNanos() - began_ns) * 1e-6);
    const bool go_on = options.after_frame(*window, viewer);
    window->Swap();
    const bool keys = std::find(input.held.begin(), input.held.end(), true) != input.held.end();
    const bool busy = changed || viewer.moving() || keys || frames_due == 0;
    frames_due = busy ? kFramesAfterEvent : frames_due - 1;
    if (!go_on) break;
  }
  return absl::OkStatus();
}

}  // namespace nanolane::desktop
