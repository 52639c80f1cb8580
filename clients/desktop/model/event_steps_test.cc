// Steps from event to event against sorted lists of them.
#include "clients/desktop/model/event_steps.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {
namespace {

using Key = std::tuple<int64_t, bool, size_t>;  // start, not an instant, event

// One lane of `kind`, events out of order, many at the same time, of four names.
TimelineModel RandomLane(trace::LaneKind kind, uint64_t seed) {
  std::mt19937_64 random(seed);
  SessionBuilder builder;
  const auto lane = builder.AddLane({.kind = kind, .gpu_index = 0, .stream = 7, .thread = 1});
  std::vector<trace::OpId> ops;
  for (int i = 0; i < 4; ++i) ops.push_back(builder.AddKernel(absl::StrCat("kernel_", i)));
  const size_t count = 1 + random() % 300;
  for (size_t i = 0; i < count; ++i) {
    builder.Add(lane, {.op = ops[random() % ops.size()],
                       .start_ns = static_cast<int64_t>(random() % 400),
                       .duration_ns = random() % 3 == 0 ? 0 : static_cast<int64_t>(random() % 30)});
  }
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(builder, 50)) model.Apply(std::move(message));
  return model;
}

std::vector<Key> Sorted(const LaneModel& lane, const std::function<bool(size_t)>& wanted) {
  std::vector<Key> sorted;
  for (size_t i = 0; i < lane.events.size(); ++i) {
    if (wanted(i)) sorted.emplace_back(lane.events.start_ns(i), lane.events.duration_ns(i) > 0, i);
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::optional<EventRef> Neighbour(const std::vector<Key>& sorted, size_t at, bool backwards) {
  if (backwards ? at == 0 : at + 1 == sorted.size()) return std::nullopt;
  return EventRef{0, std::get<2>(sorted[backwards ? at - 1 : at + 1])};
}

}  // namespace

TEST_CASE("the next and the previous event of a row are those of a sorted list") {
  for (const auto kind : {trace::LaneKind::kStream, trace::LaneKind::kNvtxThread}) {
    for (uint64_t seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      const TimelineModel model = RandomLane(kind, seed);
      const LaneModel& lane = *model.lanes()[0];
      for (uint32_t depth = 0; depth < lane.rows.depth(); ++depth) {
        const auto sorted =
            Sorted(lane, [&](size_t event) { return lane.rows.DepthOf(event) == depth; });
        for (size_t i = 0; i < sorted.size(); ++i) {
          const EventRef from{0, std::get<2>(sorted[i])};
          for (const bool backwards : {false, true}) {
            REQUIRE(NextInLane(model, from, backwards) == Neighbour(sorted, i, backwards));
          }
        }
      }
    }
  }
}

TEST_CASE("the next event of the same name is found whatever the slices") {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const TimelineModel model = RandomLane(trace::LaneKind::kStream, seed);
    const LaneModel& lane = *model.lanes()[0];
    std::mt19937_64 random(seed);
    NameSteps steps;
    for (NameId name = 1; name < model.names().size(); ++name) {
      const auto sorted =
          Sorted(lane, [&](size_t event) { return lane.events.name(event) == name; });
      for (size_t i = 0; i < sorted.size(); ++i) {
        const bool backwards = random() % 2 == 0;
        steps.Ask({0, std::get<2>(sorted[i])}, backwards);
        std::optional<NameSteps::Answer> answer;
        while (!answer.has_value()) answer = steps.Work(model, 1 + random() % 100);
        REQUIRE_FALSE(steps.working());
        REQUIRE(answer->event == Neighbour(sorted, i, backwards));
      }
    }
  }
}

TEST_CASE("events that come later are stepped to as well") {
  SessionBuilder builder;
  const auto lane =
      builder.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = 7});
  const trace::OpId op = builder.AddKernel("k");
  for (const int64_t start : {100, 300, 200}) {
    builder.Add(lane, {.op = op, .start_ns = start, .duration_ns = 1});
  }
  const std::vector<LoaderMessage> messages = LoaderMessages(builder, 1);
  TimelineModel model;
  for (size_t i = 0; i + 2 < messages.size(); ++i) model.Apply(messages[i]);
  REQUIRE(model.received_events() == 2);
  NameSteps steps;
  const auto next = [&] {
    steps.Ask({0, 0}, false);
    return model.lanes()[0]->events.start_ns(steps.Work(model, 1'000)->event->event);
  };
  CHECK(next() == 300);
  model.Apply(messages[messages.size() - 2]);
  CHECK(next() == 200);
}

}  // namespace nanolane::desktop
