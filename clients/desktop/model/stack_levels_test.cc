#include "clients/desktop/model/stack_levels.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "clients/desktop/model/lane_stacks.h"
#include "clients/desktop/testing/stack_session.h"
#include "libs/timeline/lane_index_oracle.h"

namespace nanolane::desktop {
namespace {

struct NaiveEvent {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  std::vector<std::string> frames;
};

struct NaiveSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t gpu_ns = 0;
  uint32_t events = 0;

  bool operator==(const NaiveSpan&) const = default;
};

// The definition: runs of events, in order of start, that share a frame and all outer ones.
std::vector<NaiveSpan> NaiveLevel(std::vector<NaiveEvent> events, size_t depth) {
  std::stable_sort(events.begin(), events.end(), [](const NaiveEvent& a, const NaiveEvent& b) {
    return a.start_ns < b.start_ns;
  });
  std::vector<NaiveSpan> spans;
  for (size_t i = 0; i < events.size(); ++i) {
    const auto& frames = events[i].frames;
    if (frames.size() <= depth) continue;
    const int64_t end = events[i].start_ns + std::max<int64_t>(events[i].duration_ns, 0);
    const auto shared = static_cast<std::ptrdiff_t>(depth + 1);
    const bool goes_on =
        i > 0 && events[i - 1].frames.size() > depth &&
        std::equal(frames.begin(), frames.begin() + shared, events[i - 1].frames.begin());
    if (!goes_on) spans.push_back({events[i].start_ns, end, 0, 0});
    spans.back().end_ns = std::max(spans.back().end_ns, end);
    spans.back().gpu_ns += std::max<int64_t>(events[i].duration_ns, 0);
    ++spans.back().events;
  }
  return spans;
}

std::vector<NaiveSpan> SpansOf(const StackLevels& levels, size_t level) {
  std::vector<NaiveSpan> spans;
  for (const StackSpan& span : levels.spans(level)) {
    spans.push_back({span.start_ns, span.end_ns, span.gpu_ns, span.events});
  }
  return spans;
}

TimelineModel ModelOf(const SessionBuilder& builder, size_t block_events) {
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(builder, block_events)) {
    model.Apply(std::move(message));
  }
  return model;
}

// Works until everything is there, `slice` events at a time. Returns the slices.
size_t WorkAll(LaneStacks& stacks, const TimelineModel& model, const std::vector<size_t>& expanded,
               size_t slice) {
  size_t slices = 1;
  while (!stacks.Work(model, expanded, slice, 0)) ++slices;
  return slices;
}

}  // namespace

TEST_CASE("levels of stacks equal a naive grouping, in any order of arrival and any slices") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    SessionBuilder builder;
    const trace::LaneId lane =
        builder.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = 7});
    const trace::OpId op = builder.AddKernel("k");
    std::vector<NaiveEvent> events;
    const size_t outer = random() % 3;
    for (size_t i = 0; i < 1 + random() % 120; ++i) {
      NaiveEvent event;
      // Mostly in order, now and then far back; some at one time, some overlapping.
      event.start_ns = static_cast<int64_t>(i * 10 + random() % 15 - (random() % 9 == 0 ? 200 : 0));
      event.duration_ns = static_cast<int64_t>(random() % 20) - 2;
      if (random() % 10 != 0) {
        for (size_t frame = 0; frame < outer; ++frame) event.frames.push_back("outer");
        for (size_t frame = 0; frame < random() % 5; ++frame) {
          event.frames.push_back(std::string(random() % 2 == 0 ? "" : "c++ ") + "f" +
                                 std::to_string(random() % 2));
        }
      }
      builder.Add(lane, {.op = op,
                         .start_ns = event.start_ns,
                         .duration_ns = event.duration_ns,
                         .stack = AddStack(builder, event.frames)});
      events.push_back(std::move(event));
    }
    const TimelineModel model = ModelOf(builder, 1 + random() % 40);
    LaneStacks stacks;
    WorkAll(stacks, model, {0}, 1 + random() % 30);

    // What all stacks share is left out, as long as something is left.
    size_t deepest = 0;
    std::optional<std::vector<std::string>> common;
    for (const NaiveEvent& event : events) {
      if (event.frames.empty()) continue;
      deepest = std::max(deepest, event.frames.size());
      if (!common.has_value()) common = event.frames;
      const auto [end, other] =
          std::mismatch(common->begin(), common->end(), event.frames.begin(), event.frames.end());
      common->erase(end, common->end());
    }
    const size_t folded = deepest == 0 ? 0 : std::min(common->size(), deepest - 1);
    const LaneStacks::Shape shape = stacks.ShapeOf(0);
    REQUIRE(shape.folded == folded);
    REQUIRE(shape.levels == deepest - folded);
    if (shape.levels == 0) continue;
    const StackLevels* levels = stacks.Of(0);
    REQUIRE(levels != nullptr);
    REQUIRE(levels->size() == shape.levels);
    for (size_t level = 0; level < shape.levels; ++level) {
      REQUIRE(SpansOf(*levels, level) == NaiveLevel(events, folded + level));
    }
  }
}

TEST_CASE("pixel columns of a level are the union of its spans") {
  const TimelineModel model = ModelOf(StackSession(3'000, 5), 500);
  LaneStacks stacks;
  WorkAll(stacks, model, {0}, 1'000);
  const StackLevels& levels = *stacks.Of(0);
  for (size_t level = 0; level < levels.size(); ++level) {
    timeline::LaneOracle oracle;
    for (const StackSpan& span : levels.spans(level)) {
      const int64_t duration = span.end_ns - span.start_ns;
      const FramePlace& place = stacks.tree().FrameOf(span.node);
      const auto language = static_cast<trace::Category>(
          model.dictionary(place.dictionary).SymbolOf(place.frame).language);
      oracle.Append({{&span.start_ns, 1}, {&duration, 1}, {&language, 1}});
    }
    for (const timeline::Window window :
         {timeline::Window{0, 6'000'000}, timeline::Window{1'000'333, 1'100'777},
          timeline::Window{500'000, 500'500}}) {
      std::vector<timeline::PixelColumn> columns(611);
      levels.index(level).Columns(window, columns);
      CHECK(columns == oracle.Columns(window, 611));
    }
  }
}

TEST_CASE("a slice looks at a bounded number of events, however many there are") {
  const TimelineModel model = ModelOf(StackSession(20'000, 4), 1'000);
  LaneStacks stacks;
  const size_t slices = WorkAll(stacks, model, {0}, 2'000);
  // Both lanes are surveyed; one is read and merged, with the spans that begin.
  CHECK(slices >= 40);
  CHECK(slices <= 80);
  CHECK(stacks.Of(0)->size() == 4);
}

TEST_CASE("levels are there while a lane is expanded, and their depth always") {
  const TimelineModel model = ModelOf(StackSession(200, 3), 50);
  LaneStacks stacks;
  WorkAll(stacks, model, {}, 1'000);
  CHECK(stacks.ShapeOf(0) == LaneStacks::Shape{.levels = 3, .folded = 3});
  CHECK(stacks.ShapeOf(1) == LaneStacks::Shape{});
  CHECK(stacks.Of(0) == nullptr);
  const size_t small = stacks.MemoryBytes();
  WorkAll(stacks, model, {0}, 1'000);
  CHECK(stacks.Of(0) != nullptr);
  CHECK(stacks.MemoryBytes() > small);
  WorkAll(stacks, model, {}, 1'000);
  CHECK(stacks.Of(0) == nullptr);
}

TEST_CASE("levels of a lane that grows are built anew beside what is shown") {
  SessionBuilder builder = StackSession(400, 3);
  std::vector<LoaderMessage> messages = LoaderMessages(builder, 100);
  messages.pop_back();
  TimelineModel model;
  for (size_t i = 0; i < 4; ++i) model.Apply(messages[i]);
  LaneStacks stacks;
  const std::vector<size_t> expanded = {0};
  while (!stacks.Work(model, expanded, 50, 0)) {
  }
  const uint32_t before = stacks.Of(0)->spans(0).back().events;
  const uint64_t version = stacks.version(0);
  for (size_t i = 4; i < messages.size(); ++i) model.Apply(messages[i]);
  // Not at once, and never without levels.
  while (!stacks.Work(model, expanded, 50, 1)) {
  }
  CHECK(stacks.version(0) == version);
  const int64_t later = LaneStacks::kRenewNs;
  while (!stacks.Work(model, expanded, 50, later)) REQUIRE(stacks.Of(0) != nullptr);
  CHECK(stacks.version(0) != version);
  uint32_t events = 0;
  for (const StackSpan& span : stacks.Of(0)->spans(0)) events += span.events;
  CHECK(events == 400);
  CHECK(events > before);
}

TEST_CASE("frames of two writers are the same where they were seen as the same") {
  SessionBuilder first;
  const trace::LaneId lane =
      first.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = 7});
  first.Add(lane, {.op = first.AddKernel("k"),
                   .start_ns = 0,
                   .duration_ns = 5,
                   .stack = AddStack(first, {"main", "a"})});
  SessionBuilder second;
  second.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = 7});
  AddStack(second, {"other"});  // so that ids differ
  second.Add(lane, {.op = second.AddKernel("k"),
                    .start_ns = 10,
                    .duration_ns = 5,
                    .stack = AddStack(second, {"main", "a"})});
  second.Add(lane, {.op = second.AddKernel("k"),
                    .start_ns = 20,
                    .duration_ns = 5,
                    .stack = AddStack(second, {"main", "b"})});
  TimelineModel model;
  std::vector<LoaderMessage> messages = LoaderMessages(first);
  messages.pop_back();
  for (LoaderMessage& message : messages) model.Apply(std::move(message));
  std::vector<LoaderMessage> more = LoaderMessages(second);
  std::get<DictionaryEntries>(more[1]).epoch = 2;
  std::get<BlockArrived>(more[2]).epoch = 2;
  model.Apply(more[1]);
  model.Apply(more[2]);
  LaneStacks stacks;
  WorkAll(stacks, model, {0}, 100);
  CHECK(stacks.ShapeOf(0) == LaneStacks::Shape{.levels = 1, .folded = 1});
  const StackLevels& levels = *stacks.Of(0);
  REQUIRE(levels.spans(0).size() == 2);
  CHECK(levels.spans(0)[0].events == 2);
  CHECK(levels.spans(0)[0].end_ns == 15);
}

}  // namespace nanolane::desktop
