// What a search finds, against a look at every event.
#include "clients/desktop/model/search_hits.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {
namespace {

using Key = std::tuple<int64_t, size_t, bool, size_t>;  // start, lane, not an instant, event

// Three streams of events with stacks of functions f0 … f9, many at the same time.
SessionBuilder Builder(uint64_t seed) {
  std::mt19937_64 random(seed);
  SessionBuilder builder;
  auto& dictionary = builder.dictionary();
  std::vector<trace::OpId> ops;
  for (int i = 0; i < 12; ++i) ops.push_back(builder.AddKernel(absl::StrCat("kernel_", i)));
  std::vector<trace::FrameId> frames;
  for (int i = 0; i < 10; ++i) {
    const auto name = dictionary.Intern(absl::StrCat("f", i));
    frames.push_back(dictionary.Intern(trace::Frame{.offset = static_cast<uint64_t>(i + 1)}));
    dictionary.SetSymbol(frames.back(),
                         {.function = name, .file = dictionary.Intern("model.py"), .line = 7});
  }
  std::vector<trace::StackId> stacks = {0};
  for (int i = 0; i < 30; ++i) {
    stacks.push_back(dictionary.Intern(trace::StackNode{.parent = stacks[random() % stacks.size()],
                                                        .frame = frames[random() % 10]}));
  }
  for (int64_t stream = 0; stream < 3; ++stream) {
    const auto lane =
        builder.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = stream});
    for (int i = 0; i < 200; ++i) {
      builder.Add(lane, {.op = ops[random() % ops.size()],
                         .start_ns = static_cast<int64_t>(random() % 150),
                         .duration_ns = static_cast<int64_t>(random() % 4) * 5,
                         .stack = stacks[random() % stacks.size()]});
    }
  }
  return builder;
}

struct Search {
  void Begin(const std::string& pattern) { names.SetPattern(pattern); }
  void Finish(const TimelineModel& model, std::mt19937_64& random) {
    while (!names.Update(model.names(), 3)) {
    }
    while (!frames.Update(model, names, 2)) {
    }
    while (!hits.Work(model, names, frames, 1 + random() % 2'000)) {
    }
  }

  NameSearch names;
  FrameSearch frames;
  SearchHits hits;
};

bool Expected(const TimelineModel& model, const NameSearch& names, const EventRef& ref) {
  const auto facts = FactsOf(model, ref);
  REQUIRE(facts.ok());
  if (names.MatchesText(facts->full_name)) return true;
  return std::any_of(facts->stack.begin(), facts->stack.end(), [&](const StackLine& line) {
    return names.MatchesText(line.function) ||
           names.MatchesText(line.place.substr(0, line.place.find(':')));
  });
}

std::vector<Key> Found(const TimelineModel& model, const NameSearch& names) {
  std::vector<Key> found;
  for (size_t lane = 0; lane < model.lanes().size(); ++lane) {
    const EventStore& events = model.lanes()[lane]->events;
    for (size_t i = 0; i < events.size(); ++i) {
      if (!Expected(model, names, {lane, i})) continue;
      found.emplace_back(events.start_ns(i), lane, events.duration_ns(i) > 0, i);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

EventRef RefOf(const Key& key) { return {std::get<1>(key), std::get<3>(key)}; }

}  // namespace

TEST_CASE("names and frames find what a look at every event finds, one after the other") {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    std::mt19937_64 random(seed);
    TimelineModel model;
    for (LoaderMessage& message : LoaderMessages(Builder(seed), 40)) {
      model.Apply(std::move(message));
    }
    Search search;
    for (const char* pattern :
         {"kernel_1$", "f3", "kernel_[2-4]|f7", "model", "nothing", "(?i)F1"}) {
      CAPTURE(seed, pattern);
      search.Begin(pattern);
      search.Finish(model, random);
      const std::vector<Key> found = Found(model, search.names);
      Wide length = 0;
      for (const Key& key : found) {
        const EventRef ref = RefOf(key);
        length += model.lanes()[ref.lane]->events.duration_ns(ref.event);
      }
      REQUIRE(search.hits.totals().complete);
      REQUIRE(search.hits.totals().events == found.size());
      REQUIRE((search.hits.totals().duration_ns == length));
      REQUIRE(search.hits.Count({-1'000, 1'000}) == found.size());
      for (size_t i = 0; i < found.size(); ++i) {
        const EventRef from = RefOf(found[i]);
        REQUIRE(search.hits.Next(model, from, 0, false) == RefOf(found[(i + 1) % found.size()]));
        REQUIRE(search.hits.Next(model, from, 0, true) ==
                RefOf(found[(i + found.size() - 1) % found.size()]));
      }
      // From an event that need not be a hit.
      for (int i = 0; i < 50 && !found.empty(); ++i) {
        const EventRef from{random() % 3, random() % 200};
        const EventStore& events = model.lanes()[from.lane]->events;
        const Key key{events.start_ns(from.event), from.lane, events.duration_ns(from.event) > 0,
                      from.event};
        const auto after = std::upper_bound(found.begin(), found.end(), key);
        REQUIRE(search.hits.Next(model, from, 0, false) ==
                RefOf(after == found.end() ? found.front() : *after));
        const auto before = std::lower_bound(found.begin(), found.end(), key);
        REQUIRE(search.hits.Next(model, from, 0, true) ==
                RefOf(before == found.begin() ? found.back() : *std::prev(before)));
      }
    }
  }
}

TEST_CASE("what is found by name is counted before any event has been looked at") {
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(SmallSession())) model.Apply(std::move(message));
  Search search;
  search.Begin("layer_norm");
  search.names.Update(model.names());
  CHECK_FALSE(search.hits.Work(model, search.names, search.frames, 1));
  CHECK(search.hits.totals().events == 40);
  CHECK((search.hits.totals().duration_ns == 40 * 90'000));
}

TEST_CASE("hits grow with a session that grows") {
  std::mt19937_64 random(1);
  TimelineModel model;
  Search search;
  search.Begin("kernel_1$|f3");
  for (LoaderMessage& message : LoaderMessages(Builder(5), 40)) {
    model.Apply(std::move(message));
    search.Finish(model, random);
    REQUIRE(search.hits.totals().events == Found(model, search.names).size());
  }
  CHECK(search.hits.totals().events > 100);
}

TEST_CASE("a pattern that is no regular expression finds nothing") {
  std::mt19937_64 random(1);
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(SmallSession())) model.Apply(std::move(message));
  Search search;
  search.Begin("gemm(");
  search.Finish(model, random);
  CHECK(search.hits.active());
  CHECK(search.hits.totals().events == 0);
  CHECK(search.names.error().find("missing") != std::string::npos);
}

}  // namespace nanolane::desktop
