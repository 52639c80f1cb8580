#include "clients/desktop/platform/window_loop.h"

#include <algorithm>
#include <atomic>
#include <memory>

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
  // The session is asked for first: it comes while the window opens. Nothing wakes the window until
  // it is there, and nothing asks any more when it goes.
  std::unique_ptr<GlfwWindow> window;
  std::atomic<bool> opened = false;
  const auto wake = [&opened] {
    if (opened) GlfwWindow::Wake();
  };
  const base::SystemClock clock;
  TimelineFeed feed([&line] { return rpc::OpenChannel(line.server); },
                    {.server = line.server,
                     .session = line.session,
                     .range = std::nullopt,
                     .most_events = line.most_events,
                     .on_message = wake},
                    clock);
  ASSIGN_OR_RETURN(window, GlfwWindow::Create({.width = line.width, .height = line.height}));
  opened = true;
  UiContext context(window->device_scale(),
                    {.get = [&] { return window->Clipboard(); },
                     .set = [&](const std::string& text) { window->SetClipboard(text); }});
  MainView view(context, line.theme, line.server);
  Viewer viewer({.range = line.range, .device_scale = window->device_scale()});

  SessionCatalog catalog(rpc::OpenChannel(line.server), {.on_change = wake});
  ScopeDesk desk;
  ScopeLink scope(catalog, feed, viewer, desk);
  view.SetScope(desk);

  int64_t last_ns = clock.MonotonicNanos();
  int frames_due = kFramesAfterEvent;
  int64_t draw_ns = 0;
  while (!window->should_close()) {
    window->WaitEvents(frames_due > 0 ? 0 : kIdleSeconds);
    const int64_t began_ns = clock.MonotonicNanos();
    const double seconds = std::min(static_cast<double>(began_ns - last_ns) * 1e-9, kLongestStep);
    last_ns = began_ns;
    const bool changed = feed.Pump(PumpBudgetNs(draw_ns));
    const int64_t pumped_ns = clock.MonotonicNanos();
    Input input = window->TakeInput();
    input.typing = context.wants_keyboard();
    input.mouse_taken = context.wants_mouse();
    const Input for_viewer = scope.BeforeStep(input, clock.UnixNanos());
    viewer.Step(feed.loaded(), for_viewer, window->width(), window->height(), seconds, began_ns);
    window->BindFramebuffer();
    view.Draw(viewer, feed.loaded(), input, seconds);
    feed.Show(view.sight());
    draw_ns = clock.MonotonicNanos() - pumped_ns;
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
