// What a filter leaves, against an oracle that is fed with the events that it shows.
#include "clients/desktop/model/filtered_lanes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "absl/strings/str_cat.h"
#include "clients/desktop/testing/session_builder.h"
#include "libs/timeline/lane_index_oracle.h"

namespace nanolane::desktop {
namespace {

using timeline::PixelColumn;
using timeline::Window;

// A stream without overlaps, one with, and ranges that nest; stacks of three languages.
SessionBuilder Builder(uint64_t seed) {
  std::mt19937_64 random(seed);
  SessionBuilder builder;
  auto& dictionary = builder.dictionary();
  std::vector<trace::OpId> ops;
  for (const char* name : {"sgemm", "layer_norm", "flash_attn", "other"}) {
    ops.push_back(builder.AddKernel(name));
  }
  std::vector<trace::StackId> stacks = {0};
  for (const auto language :
       {trace::Language::kPython, trace::Language::kCpp, trace::Language::kUnknown}) {
    const auto frame =
        dictionary.Intern(trace::Frame{.offset = 1 + static_cast<uint64_t>(language)});
    dictionary.SetSymbol(frame, {.function = dictionary.Intern("f"), .language = language});
    stacks.push_back(dictionary.Intern(trace::StackNode{.frame = frame}));
    stacks.push_back(dictionary.Intern(trace::StackNode{.parent = stacks[1], .frame = frame}));
  }
  for (int64_t stream = 0; stream < 2; ++stream) {
    const auto lane =
        builder.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = stream});
    int64_t at = 0;
    for (int i = 0; i < 300; ++i) {
      const auto duration = static_cast<int64_t>(random() % 50);
      builder.Add(lane, {.op = ops[random() % ops.size()],
                         .start_ns = at,
                         .duration_ns = duration,
                         .stack = stacks[random() % stacks.size()]});
      at += duration + static_cast<int64_t>(random() % 20) - (stream == 1 ? 12 : 0);
    }
  }
  const auto ranges = builder.AddLane({.kind = trace::LaneKind::kNvtxThread, .thread = 1});
  const trace::OpId range = builder.AddOp(trace::EventKind::kNvtx, "range");
  for (int64_t i = 0; i < 100; ++i) {
    builder.Add(ranges, {.op = range, .start_ns = i * 100 + 10, .duration_ns = i % 7});
    builder.Add(ranges, {.op = range, .start_ns = i * 100, .duration_ns = 60});
  }
  return builder;
}

std::vector<EventFilter> Filters() {
  constexpr auto kBit = [](trace::Category category) {
    return 1U << static_cast<unsigned>(category);
  };
  constexpr auto kLanguage = [](trace::Language language) {
    return 1U << static_cast<unsigned>(language);
  };
  return {{.categories = kBit(trace::Category::kGemm)},
          {.categories = ~kBit(trace::Category::kGemm)},
          {.categories = kBit(trace::Category::kNvtx)},
          {.categories = 0},
          {.least_ns = 20},
          {.least_ns = 5, .most_ns = 30},
          {.most_ns = 0},
          {.languages = kLanguage(trace::Language::kPython)},
          {.languages = kLanguage(trace::Language::kCpp) | kNoStack},
          {.languages = kNoStack, .streams = {1}},
          {.streams = {0}},
          {.categories = kBit(trace::Category::kAttention) | kBit(trace::Category::kGemm),
           .languages = ~kNoStack,
           .least_ns = 10}};
}

// The definition, by what the details panel says of the event.
bool Expected(const TimelineModel& model, const EventFilter& filter, const EventRef& ref) {
  const LaneModel& lane = *model.lanes()[ref.lane];
  const int64_t stream = lane.facts.lane.stream;
  const int64_t duration = lane.events.duration_ns(ref.event);
  if (stream >= 0 && !filter.streams.empty() && filter.streams[0] != stream) return false;
  if (!filter.ShowsCategory(lane.events.category(ref.event))) return false;
  if (duration < filter.least_ns.value_or(0)) return false;
  if (duration > filter.most_ns.value_or(duration)) return false;
  const auto facts = FactsOf(model, ref);
  REQUIRE(facts.ok());
  if (facts->stack.empty()) return (filter.languages & kNoStack) != 0;
  return std::any_of(facts->stack.begin(), facts->stack.end(), [&](const StackLine& line) {
    return (filter.languages >> static_cast<unsigned>(line.language) & 1U) != 0;
  });
}

void CheckRow(const TimelineModel& model, const EventFilter& filter, const FilteredLanes& lanes,
              size_t number, uint32_t depth, std::mt19937_64& random) {
  const LaneModel& lane = *model.lanes()[number];
  timeline::LaneOracle oracle;
  for (size_t i = 0; i < lane.events.size(); ++i) {
    const bool shown = Expected(model, filter, {number, i});
    REQUIRE(lanes.Shows(model, {number, i}) == shown);
    if (!shown || lane.rows.DepthOf(i) != depth) continue;
    const int64_t start = lane.events.start_ns(i);
    const int64_t duration = lane.events.duration_ns(i);
    const trace::Category category = lane.events.category(i);
    oracle.Append({{&start, 1}, {&duration, 1}, {&category, 1}});
  }
  for (int i = 0; i < 5; ++i) {
    const auto start = static_cast<int64_t>(random() % 12'000) - 100;
    const Window window{start, start + 1 + static_cast<int64_t>(random() % 9'000)};
    std::vector<PixelColumn> columns(1 + random() % 700);
    if (lanes.Columns(lane, number, depth, window, columns) == FilteredLanes::Part::kAll) {
      lane.rows.Columns(depth, window, columns);
    }
    const auto expected = oracle.Columns(window, static_cast<uint32_t>(columns.size()));
    for (size_t x = 0; x < columns.size(); ++x) {
      REQUIRE(columns[x].present == expected[x].present);
      REQUIRE(columns[x].covered_ns == expected[x].covered_ns);
      REQUIRE(columns[x].edge_covered == expected[x].edge_covered);
      if (expected[x].present) REQUIRE(columns[x].dominant == expected[x].dominant);
    }
  }
}

}  // namespace

TEST_CASE(
    "columns and counts of what a filter shows equal the oracle's, one filter after another") {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    std::mt19937_64 random(seed);
    TimelineModel model;
    for (LoaderMessage& message : LoaderMessages(Builder(seed), 37)) {
      model.Apply(std::move(message));
    }
    FilteredLanes lanes;
    const std::vector<EventFilter> filters = Filters();
    for (size_t f = 0; f < filters.size(); ++f) {
      CAPTURE(seed, f);
      lanes.Work(model, filters[f], 1);  // given up in the middle
      while (!lanes.Work(model, filters[f], 1 + random() % 3'000)) {
      }
      uint64_t shown = 0;
      for (size_t lane = 0; lane < model.lanes().size(); ++lane) {
        for (uint32_t depth = 0; depth < model.lanes()[lane]->rows.depth(); ++depth) {
          CheckRow(model, filters[f], lanes, lane, depth, random);
        }
        for (size_t i = 0; i < model.lanes()[lane]->events.size(); ++i) {
          shown += lanes.Shows(model, {lane, i}) ? 1 : 0;
        }
      }
      CHECK(lanes.shown_events() == shown);
    }
  }
}

TEST_CASE("categories of a lane without overlaps are exact before any event has been looked at") {
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(Builder(1))) model.Apply(std::move(message));
  REQUIRE(model.lanes()[0]->rows.disjoint());
  REQUIRE_FALSE(model.lanes()[1]->rows.disjoint());
  FilteredLanes lanes;
  const EventFilter filter = Filters()[0];
  lanes.Work(model, filter, 0);
  std::mt19937_64 random(1);
  CheckRow(model, filter, lanes, 0, 0, random);
}

TEST_CASE("a filter keeps up with a session that grows") {
  TimelineModel model;
  FilteredLanes lanes;
  const EventFilter filter{.least_ns = 5, .most_ns = 30};
  std::mt19937_64 random(1);
  for (LoaderMessage& message : LoaderMessages(Builder(2), 37)) {
    model.Apply(std::move(message));
    while (!lanes.Work(model, filter, 500)) {
    }
    for (size_t lane = 0; lane < model.lanes().size(); ++lane) {
      CheckRow(model, filter, lanes, lane, 0, random);
    }
  }
}

}  // namespace nanolane::desktop
