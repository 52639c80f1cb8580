// From kernels to the calls that launched them, and back.
#include "clients/desktop/model/launch_link.h"

#include <catch2/catch.hpp>

#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {
namespace {

constexpr size_t kCalls = 3;  // of each step, one of them launches

// A stream whose kernels were launched by a thread with rows for its calls.
struct Launches {
  Launches() {
    const auto stream =
        builder.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = 7});
    const auto other =
        builder.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = 8});
    const auto calls = builder.AddLane({.kind = trace::LaneKind::kThreadApi, .thread = 4121});
    const trace::OpId kernel = builder.AddKernel("k");
    const trace::OpId call = builder.AddOp(trace::EventKind::kApi, "cudaLaunchKernel");
    for (int64_t i = 0; i < 100; ++i) {
      const auto id = static_cast<uint64_t>(1'000 + i);
      const int64_t launch = i * 100;
      builder.Add(i % 2 == 0 ? stream : other, {.op = kernel,
                                                .start_ns = launch + 40,
                                                .duration_ns = 20,
                                                .launch_start_ns = launch,
                                                .launch_duration_ns = 9,
                                                .thread = 4121,
                                                .correlation = id});
      // Of the same moment: a call of another kind, and the launch inside it.
      builder.Add(calls, {.op = call, .start_ns = launch, .duration_ns = 30, .correlation = 7});
      builder.Add(calls, {.op = call, .start_ns = launch, .duration_ns = 9, .correlation = id});
      builder.Add(calls, {.op = call, .start_ns = launch + 50, .duration_ns = 5});
    }
    for (LoaderMessage& message : LoaderMessages(builder, 16)) model.Apply(std::move(message));
    for (size_t i = 0; i < model.lanes().size(); ++i) {
      if (model.lanes()[i]->facts.lane.kind == trace::LaneKind::kThreadApi) api = i;
    }
  }

  LaunchLink::Answer Launched(LaunchLink& link, const EventRef& call) const {
    link.AskLaunched(model, call);
    std::optional<LaunchLink::Answer> answer;
    while (!answer.has_value()) answer = link.Work(model, 20);
    CHECK_FALSE(link.working());
    return *answer;
  }

  SessionBuilder builder;
  TimelineModel model;
  size_t api = 0;
};

}  // namespace

TEST_CASE("every kernel leads to its call, and every call to its kernel") {
  const Launches launches;
  for (size_t lane = 0; lane < launches.model.lanes().size(); ++lane) {
    if (lane == launches.api) continue;
    for (size_t event = 0; event < launches.model.lanes()[lane]->events.size(); ++event) {
      LaunchLink link;
      const auto there = link.LaunchOf(launches.model, {lane, event});
      REQUIRE(there.event.has_value());
      CHECK(there.event->lane == launches.api);
      CHECK(there.event->event % kCalls == 1);
      CHECK(launches.Launched(link, *there.event).event == EventRef{lane, event});
      LaunchLink fresh;  // that knows of no way back
      CHECK(launches.Launched(fresh, *there.event).event == EventRef{lane, event});
    }
  }
}

TEST_CASE("where there is no other end it is said why") {
  const Launches launches;
  LaunchLink link;
  CHECK(launches.Launched(link, {launches.api, 2}).notice == "this call launched nothing");
  CHECK(launches.Launched(link, {launches.api, 0}).notice ==
        "nothing that this call launched was recorded");
  const size_t stream = launches.api == 0 ? 1 : 0;
  CHECK(launches.Launched(link, {stream, 0}).notice == "this is not a call that launches");
  CHECK(link.LaunchOf(launches.model, {launches.api, 0}).notice ==
        "nothing launched this: it did not run on a GPU");
}

TEST_CASE("a launch without a row is told with its time") {
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(SmallSession())) model.Apply(std::move(message));
  LaunchLink link;
  const auto answer = link.LaunchOf(model, {0, 0});
  CHECK_FALSE(answer.event.has_value());
  CHECK(answer.notice ==
        "launched 8.104 µs before by thread 4121; calls have no rows in this session");
}

}  // namespace nanolane::desktop
