// opening_bench: how soon the viewer shows something. A store with a session of a million events
// behind a real server process that has just been started, its files out of the page cache; a fresh
// viewer process draws frames at 1600x900 as its window would, on the OpenGL that an EGL context
// without a display gets.
//
//   opening_bench [EVENTS]   in 20 streams; 1,000,000 when left out
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "bench/machine.h"
#include "bench/server_bench.h"
#include "clients/desktop/model/timeline_feed.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/platform/egl_headless.h"
#include "clients/desktop/platform/window_loop.h"
#include "clients/desktop/render/frame_image.h"
#include "clients/desktop/testing/session_builder.h"
#include "clients/desktop/view/main_view.h"
#include "libs/base/clock.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "nanolane/query/v1/query.grpc.pb.h"
#include "nanolane/store/v1/store.grpc.pb.h"
#include "tests/support/command.h"
#include "tests/support/server_process.h"

namespace nanolane::desktop {
namespace {

using nanolane::bench::Fail;
using nanolane::bench::Samples;
using nanolane::bench::Stopwatch;
using nanolane::testing::ServerProcess;

constexpr size_t kLanes = 20;
constexpr size_t kBlockEvents = 8'192;
constexpr uint32_t kWidth = 1'600;
constexpr uint32_t kHeight = 900;
constexpr int kRuns = 7;

void Append(const std::string& address, SessionBuilder session) {
  const auto store = store::v1::StoreService::NewStub(rpc::OpenChannel(address));
  grpc::ClientContext context;
  const auto stream = store->Append(&context);
  uint64_t sequence = 0;
  session.session().set_ended(false);
  const auto send = [&](store::v1::AppendRequest& request) {
    request.set_sequence(++sequence);
    stream->Write(request);
    store::v1::AppendResponse response;
    while (response.acknowledged_sequence() < sequence) {
      if (!stream->Read(&response)) Fail(rpc::FromGrpc(stream->Finish()));
    }
  };
  for (const query::v1::StreamTimelineResponse& message : session.Messages(kBlockEvents)) {
    store::v1::AppendRequest request;
    if (message.has_dictionary()) {
      *request.mutable_session() = session.session();
      request.set_epoch(message.dictionary().epoch());
      *request.mutable_dictionary() = message.dictionary().delta();
      send(request);
    }
    for (const query::v1::Block& block : message.blocks().blocks())
      request.add_blocks(block.data());
    if (request.blocks_size() > 0) send(request);
  }
  session.session().set_ended(true);
  store::v1::AppendRequest last;
  *last.mutable_session() = session.session();
  send(last);
  stream->WritesDone();
  Fail(rpc::FromGrpc(stream->Finish()));
}

void WaitSealed(const std::string& address) {
  const auto query = query::v1::QueryService::NewStub(rpc::OpenChannel(address));
  while (true) {
    grpc::ClientContext context;
    query::v1::ListSessionsResponse response;
    Fail(rpc::FromGrpc(query->ListSessions(&context, {}, &response)));
    if (response.sessions(0).unsealed_events() == 0) return;
    ::usleep(100'000);
  }
}

// What a viewer process tells of itself, in milliseconds.
struct Opening {
  double ready = 0;     // asked until frames can be drawn
  double applied = 0;   // asked until the first block is in the model
  double first = 0;     // asked until a frame with spans is drawn
  double complete = 0;  // asked until all events are in a drawn frame
  double frame = 0;     // the longest frame meanwhile
  int frames = 0;
};

// The viewer process.
int Open(const std::string& address) {
  const Stopwatch watch;
  const base::SystemClock clock;
  // As in the window's loop: the session comes while the window opens.
  TimelineFeed feed([&] { return rpc::OpenChannel(address); }, {.server = address}, clock);
  const auto gl = EglHeadless::Create();
  Fail(gl.status());
  const auto target = FrameTarget::Create(kWidth, kHeight);
  Fail(target.status());
  UiContext context(1, {});
  MainView view(context, ThemeName::kDark, address);
  Viewer viewer({});
  Opening seen{.ready = watch.Seconds() * 1e3};
  const Input nobody;
  int64_t draw_ns = 0;
  const auto now = [&] { return watch.Seconds() * 1e3; };
  while (seen.complete == 0) {
    const double began = now();
    feed.Pump(PumpBudgetNs(draw_ns));
    const Stopwatch drawing;
    const TimelineModel& model = feed.model();
    if (model.phase() == TimelineModel::Phase::kFailed) Fail(model.status());
    if (seen.applied == 0 && model.received_events() > 0) seen.applied = now();
    viewer.Step(feed.loaded(), nobody, kWidth, kHeight, 0.016, clock.MonotonicNanos());
    target->Bind();
    view.Draw(viewer, feed.loaded(), nobody, 0.016);
    draw_ns = static_cast<int64_t>(drawing.Seconds() * 1e9);
    ++seen.frames;
    seen.frame = std::max(seen.frame, now() - began);
    if (seen.first == 0 && model.received_events() > 0) seen.first = now();
    if (model.phase() == TimelineModel::Phase::kComplete) seen.complete = now();
  }
  std::printf("%f %f %f %f %f %d\n", seen.ready, seen.applied, seen.first, seen.complete,
              seen.frame, seen.frames);
  return 0;
}

Opening RunViewer(const std::string& self, const std::string& address) {
  const auto result = nanolane::testing::RunCommand({self, "--open", address});
  Opening seen;
  const int read =
      std::sscanf(result.output.c_str(), "%lf %lf %lf %lf %lf %d", &seen.ready, &seen.applied,
                  &seen.first, &seen.complete, &seen.frame, &seen.frames);
  if (read != 6) Fail(absl::InternalError("the viewer failed: " + result.errors));
  return seen;
}

void Print(const char* name, const Samples& samples) {
  std::printf("%-52s %8.0f ms  (%.0f to %.0f)\n", name, samples.Median(), samples.Lowest(),
              samples.Highest());
}

int Main(const std::string& self, size_t events) {
  nanolane::bench::PrintMachine();
  auto server = ServerProcess::Start(nanolane::testing::SiblingBinary("nanolane"));
  Fail(server.status());
  Append(server->address(), LargeSession(kLanes, events));
  WaitSealed(server->address());
  Samples ready, applied, first, complete, frame, frames;
  for (int run = 0; run < kRuns; ++run) {
    server->Stop(SIGTERM);
    nanolane::bench::DropCache(server->data());
    Fail(server->Restart(SIGTERM));
    const Opening seen = RunViewer(self, server->address());
    ready.Add(seen.ready);
    applied.Add(seen.applied);
    first.Add(seen.first);
    complete.Add(seen.complete);
    frame.Add(seen.frame);
    frames.Add(seen.frames);
  }
  std::printf("%zu events in %zu lanes, cold store, medians of %d fresh processes:\n", events,
              kLanes, kRuns);
  Print("asked until frames can be drawn (OpenGL, faces)", ready);
  Print("asked until the first block is in the model", applied);
  Print("asked until a frame with spans is drawn", first);
  Print("asked until a frame with all events is drawn", complete);
  Print("longest frame meanwhile", frame);
  std::printf("%-52s %8.0f\n", "frames drawn meanwhile", frames.Median());
  return 0;
}

}  // namespace
}  // namespace nanolane::desktop

int main(int argc, char** argv) {
  using namespace nanolane::desktop;
  if (argc == 3 && std::string(argv[1]) == "--open") return Open(argv[2]);
  return Main(argv[0], argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000);
}
