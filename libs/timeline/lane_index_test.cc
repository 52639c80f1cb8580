// LaneIndex against its oracle: random and adversarial lanes, orders of arrival and windows.
#include "libs/timeline/lane_index.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "libs/timeline/lane_index_oracle.h"
#include "libs/timeline/lane_shapes.h"

namespace nanolane::timeline {
namespace {

using trace::Category;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

// Both, fed with the same events.
struct Pair {
  LaneIndex index;
  LaneOracle oracle;

  void Append(const SpanBatch& batch) {
    index.Append(batch);
    oracle.Append(batch);
  }
};

std::string Text(const PixelColumn& column) {
  return "covered " + std::to_string(column.covered_ns) + ", starts " +
         std::to_string(column.starts) + ", present " + std::to_string(column.present) +
         ", edge covered " + std::to_string(column.edge_covered) + ", dominant " +
         std::string(trace::ToString(column.dominant));
}

void RequireEqualColumns(const Pair& lane, const Window& window, uint32_t width) {
  std::vector<PixelColumn> columns(width);
  lane.index.Columns(window, columns);
  const std::vector<PixelColumn> expected = lane.oracle.Columns(window, width);
  for (uint32_t i = 0; i < width; ++i) {
    if (columns[i] == expected[i]) continue;
    FAIL("window " << window.start_ns << ".." << window.end_ns << ", column " << i << " of "
                   << width << ": " << Text(columns[i]) << "; oracle: " << Text(expected[i]));
  }
}

void RequireEqual(const Pair& lane, const Window& window, uint32_t width) {
  RequireEqualColumns(lane, window, width);
  REQUIRE(lane.index.Covered(window.start_ns, window.end_ns) ==
          lane.oracle.Covered(window.start_ns, window.end_ns));
  REQUIRE(lane.index.Count(window) == lane.oracle.Count(window));
}

// --- Lanes ---

int64_t AnyTime(LaneMaker& make) { return make.Int(kMin, kMax); }

int64_t NearAnEnd(LaneMaker& make) {
  return make.OneIn(2) ? kMin + make.Int(0, 100) : kMax - make.Int(0, 100);
}

struct Shape {
  const char* name;
  LaneEvents (*make)(LaneMaker& make, size_t events);
};

template <typename AddOne>
LaneEvents Repeat(size_t events, AddOne add_one) {
  LaneEvents lane;
  for (size_t i = 0; i < events; ++i) add_one(lane);
  return lane;
}

LaneEvents Stream(LaneMaker& make, size_t events) {
  return make.Stream({.events = events, .instant_one_in = 5, .overlap_one_in = 8});
}

LaneEvents EqualStarts(LaneMaker& make, size_t events) {
  return Repeat(events,
                [&](LaneEvents& lane) { lane.Add(1'000, make.Int(0, 200), make.AnyOf(5)); });
}

LaneEvents EqualSpans(LaneMaker& make, size_t events) {
  return Repeat(events, [&](LaneEvents& lane) { lane.Add(1'000, 50, make.AnyOf(15)); });
}

LaneEvents Extremes(LaneMaker& make, size_t events) {
  return Repeat(events, [&](LaneEvents& lane) {
    lane.Add(AnyTime(make), make.OneIn(4) ? kMax : AnyTime(make), make.AnyOf(15));
  });
}

LaneEvents AtTheEnds(LaneMaker& make, size_t events) {
  return Repeat(events, [&](LaneEvents& lane) {
    lane.Add(NearAnEnd(make), make.OneIn(2) ? kMax : make.Int(-5, 50), make.AnyOf(3));
  });
}

LaneEvents Touching(LaneMaker& make, size_t events) {
  int64_t now = -500;
  return Repeat(events, [&](LaneEvents& lane) {
    const int64_t duration = make.Int(0, 3);
    lane.Add(now, duration, make.AnyOf(4));
    now += duration;
  });
}

LaneEvents Nested(LaneMaker& make, size_t events) {
  int64_t left = 0;
  int64_t right = 10'000'000;
  return Repeat(events, [&](LaneEvents& lane) {
    if (right - left < 10) {
      left = make.Int(0, 1'000'000);
      right = left + make.Log(20);
    }
    lane.Add(left, right - left, make.AnyOf(6));
    left += make.Int(0, 3);
    right = std::max(left, right - make.Int(0, 3));
  });
}

LaneEvents Crowded(LaneMaker& make, size_t events) {
  return Repeat(
      events, [&](LaneEvents& lane) { lane.Add(make.Int(0, 60), make.Int(-2, 8), make.AnyOf(4)); });
}

LaneEvents Instants(LaneMaker& make, size_t events) {
  return Repeat(events, [&](LaneEvents& lane) {
    lane.Add(make.Int(0, 1'000) * make.Int(1, 3), 0, make.AnyOf(15));
  });
}

LaneEvents Sparse(LaneMaker& make, size_t events) {
  int64_t now = 0;
  return Repeat(events, [&](LaneEvents& lane) {
    now += make.Log(36);
    const int64_t duration = make.Log(36);
    lane.Add(now, duration, make.AnyOf(3));
    now += make.OneIn(10) ? 0 : duration;
  });
}

LaneEvents UnderOneLongSpan(LaneMaker& make, size_t events) {
  LaneEvents lane;
  if (events > 0) lane.Add(0, 1'000'000, Category::kCommunication);
  for (size_t i = 1; i < events; ++i) {
    lane.Add(make.Int(-100, 1'100'000), make.Int(0, 2'000), make.AnyOf(7));
  }
  return lane;
}

LaneEvents OneFarAway(LaneMaker& make, size_t events) {
  LaneEvents lane = Stream(make, events);
  lane.Add(0, 0, Category::kMemset);
  return lane;
}

const std::vector<Shape> kShapes = {
    {"stream", Stream},
    {"equal starts", EqualStarts},
    {"equal spans", EqualSpans},
    {"extremes of int64", Extremes},
    {"at the ends of int64", AtTheEnds},
    {"touching", Touching},
    {"nested", Nested},
    {"crowded", Crowded},
    {"instants", Instants},
    {"sparse", Sparse},
    {"under one long span", UnderOneLongSpan},
    {"one at time 0", OneFarAway},
};

// --- Windows ---

int64_t Clamp(Wide time) {
  return static_cast<int64_t>(std::min<Wide>(std::max<Wide>(time, kMin), kMax));
}

// Around an event, around the lane, or anywhere; from 1 ns to everything there is.
Window AnyWindow(LaneMaker& make, const LaneEvents& events) {
  if (events.size() == 0 || make.OneIn(20)) {
    return {make.OneIn(2) ? kMin : AnyTime(make), make.OneIn(2) ? kMax : AnyTime(make)};
  }
  const auto at = static_cast<size_t>(make.Int(0, static_cast<int64_t>(events.size()) - 1));
  Wide start = events.start_ns[at];
  if (make.OneIn(2)) start += std::max<int64_t>(events.duration_ns[at], 0);
  start -= make.OneIn(2) ? make.Int(0, 3) : make.Log(make.OneIn(4) ? 62 : 20);
  const Wide length = make.OneIn(3) ? make.Int(1, 40) : make.Log(make.OneIn(4) ? 62 : 24);
  return {Clamp(start), Clamp(start + length)};
}

uint32_t AnyWidth(LaneMaker& make) {
  return static_cast<uint32_t>(make.OneIn(8) ? make.Int(1, 1'600) : make.Int(1, 70));
}

std::vector<size_t> AnyOrder(LaneMaker& make, size_t size) {
  switch (make.Int(0, 3)) {
    case 0: return make.Shuffle(size);
    case 1: return make.Jitter(size, 5);
    case 2: return make.Jitter(size, 700);
    default: return make.Jitter(size, 0);
  }
}

// Appends in batches of random size and compares at windows in between and at the end.
void RunRandomLane(LaneMaker& make, const LaneEvents& events, int windows) {
  Pair lane;
  const int64_t largest = make.OneIn(3) ? 5 : static_cast<int64_t>(events.size()) + 1;
  for (size_t done = 0; done < events.size();) {
    const size_t count = std::min(events.size() - done, static_cast<size_t>(make.Int(0, largest)));
    lane.Append(events.Batch(done, count));
    done += count;
    if (make.OneIn(10)) RequireEqual(lane, AnyWindow(make, events), AnyWidth(make));
  }
  for (int i = 0; i < windows; ++i) {
    RequireEqual(lane, AnyWindow(make, events), AnyWidth(make));
  }
}

TEST_CASE("columns equal the oracle at 1,000 random windows of 100,000 events") {
  LaneMaker make(1);
  Pair lane;
  lane.Append(make.Stream({.events = 100'000, .instant_one_in = 10, .overlap_one_in = 10}).All());
  for (int round = 0; round < 1'000; ++round) {
    const int64_t length = make.Log(32);
    const int64_t start = make.Int(lane.index.first_ns() - length, lane.index.last_ns());
    RequireEqual(lane, {start, start + length}, static_cast<uint32_t>(make.Int(1, 2'000)));
  }
}

TEST_CASE("columns equal the oracle for small lanes of every shape and order of arrival") {
  for (size_t shape = 0; shape < kShapes.size(); ++shape) {
    DYNAMIC_SECTION(kShapes[shape].name) {
      for (uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        LaneMaker make(seed * 100 + shape);
        const LaneEvents events = kShapes[shape].make(make, static_cast<size_t>(make.Int(0, 120)));
        RunRandomLane(make, events.Reordered(AnyOrder(make, events.size())), 20);
      }
    }
  }
}

TEST_CASE("columns equal the oracle for lanes of many chunks of every shape") {
  for (size_t shape = 0; shape < kShapes.size(); ++shape) {
    DYNAMIC_SECTION(kShapes[shape].name) {
      for (uint64_t seed = 0; seed < 4; ++seed) {
        CAPTURE(seed);
        LaneMaker make(seed * 100 + shape);
        const LaneEvents events =
            kShapes[shape].make(make, static_cast<size_t>(make.Int(2'000, 5'000)));
        RunRandomLane(make, events.Reordered(AnyOrder(make, events.size())), 15);
      }
    }
  }
}

TEST_CASE("the event under the cursor equals the oracle's") {
  for (size_t shape = 0; shape < kShapes.size(); ++shape) {
    DYNAMIC_SECTION(kShapes[shape].name) {
      for (uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        LaneMaker make(seed * 100 + shape);
        const size_t size = static_cast<size_t>(make.Int(0, make.OneIn(10) ? 2'000 : 100));
        const LaneEvents made = kShapes[shape].make(make, size);
        const LaneEvents events = made.Reordered(AnyOrder(make, made.size()));
        Pair lane;
        const size_t half = events.size() / 2;
        lane.Append(events.Batch(0, half));
        lane.Append(events.Batch(half, events.size() - half));
        for (int i = 0; i < 50; ++i) {
          const int64_t time = AnyWindow(make, events).start_ns;
          const int64_t slop = make.OneIn(4) ? kMax : make.Int(-1, 10);
          CAPTURE(time, slop);
          REQUIRE(lane.index.EventAt(time, slop) == lane.oracle.EventAt(time, slop));
        }
      }
    }
  }
}

TEST_CASE("the dominant name of a window equals the oracle's") {
  for (size_t shape = 0; shape < kShapes.size(); ++shape) {
    DYNAMIC_SECTION(kShapes[shape].name) {
      for (uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        LaneMaker make(seed * 100 + shape);
        const size_t size = static_cast<size_t>(make.Int(0, make.OneIn(10) ? 1'500 : 100));
        const LaneEvents made = kShapes[shape].make(make, size);
        const LaneEvents events = made.Reordered(AnyOrder(make, made.size()));
        std::vector<uint32_t> names;
        for (size_t i = 0; i < events.size(); ++i) {
          names.push_back(static_cast<uint32_t>(make.Int(0, 12)));
        }
        Pair lane;
        lane.Append(events.All());
        for (int i = 0; i < 20; ++i) {
          const Window window = AnyWindow(make, events);
          CAPTURE(window.start_ns, window.end_ns);
          const auto name_of = [&](size_t index) { return names[index]; };
          REQUIRE(DominantName(lane.index, window, kNoLimit, name_of) ==
                  lane.oracle.DominantName(window, names));
          const size_t count = lane.index.Count(window);
          REQUIRE(lane.index.EventsIn(window, kNoLimit)->size() == count);
          if (count > 0) REQUIRE_FALSE(lane.index.EventsIn(window, count - 1).has_value());
        }
      }
    }
  }
}

TEST_CASE("a parent column is the merge of its two children") {
  LaneMaker make(7);
  Pair lane;
  lane.Append(make.Stream({.events = 20'000, .instant_one_in = 4, .overlap_one_in = 6}).All());
  for (int round = 0; round < 50; ++round) {
    const int64_t width = make.Int(1, 500);
    const int64_t start = make.Int(lane.index.first_ns(), lane.index.last_ns());
    const Window window = {start, start + 2 * width * make.Log(20)};  // edges of both coincide
    std::vector<PixelColumn> parents(static_cast<size_t>(width));
    std::vector<PixelColumn> children(static_cast<size_t>(2 * width));
    lane.index.Columns(window, parents);
    lane.index.Columns(window, children);
    for (size_t i = 0; i < parents.size(); ++i) {
      const PixelColumn& left = children[2 * i];
      const PixelColumn& right = children[2 * i + 1];
      REQUIRE(parents[i].covered_ns == left.covered_ns + right.covered_ns);
      REQUIRE(parents[i].starts == left.starts + right.starts);
      REQUIRE(parents[i].present == (left.present || right.present));
    }
  }
}

TEST_CASE("columns sum to the covered time of the window, starts to the events of the lane") {
  LaneMaker make(11);
  Pair lane;
  lane.Append(make.Stream({.events = 50'000, .instant_one_in = 9, .overlap_one_in = 5}).All());
  for (int round = 0; round < 100; ++round) {
    const int64_t start = make.Int(lane.index.first_ns() - 1'000, lane.index.last_ns());
    const Window window = {start, start + make.Log(33)};
    std::vector<PixelColumn> columns(static_cast<size_t>(make.Int(1, 3'000)));
    lane.index.Columns(window, columns);
    int64_t covered = 0;
    for (const PixelColumn& column : columns) covered += column.covered_ns;
    REQUIRE(covered == lane.index.Covered(window.start_ns, window.end_ns));
  }
  REQUIRE(lane.index.busy_ns() == lane.oracle.Covered(kMin, kMax));
  std::vector<PixelColumn> columns(777);
  lane.index.Columns({lane.index.first_ns(), lane.index.last_ns() + 1}, columns);
  size_t starts = 0;
  for (const PixelColumn& column : columns) starts += column.starts;
  REQUIRE(starts == lane.index.size());
}

TEST_CASE("100,000 events in random order, a few at a time, are taken in") {
  LaneMaker make(13);
  const LaneEvents sorted =
      make.Stream({.events = 100'000, .instant_one_in = 10, .overlap_one_in = 10});
  const LaneEvents events = sorted.Reordered(make.Shuffle(sorted.size()));
  Pair lane;
  for (size_t done = 0; done < events.size();) {
    const size_t count = std::min(events.size() - done, static_cast<size_t>(make.Int(1, 30)));
    lane.index.Append(events.Batch(done, count));
    done += count;
  }
  lane.oracle.Append(events.All());
  RequireEqual(lane, {lane.index.first_ns(), lane.index.last_ns()}, 1'600);
  for (int i = 0; i < 20; ++i) RequireEqual(lane, AnyWindow(make, events), 1'600);
}

TEST_CASE("100,000 ranges that all nest cost no more than others") {
  Pair lane;
  LaneEvents events;
  for (int64_t i = 0; i < 100'000; ++i) {
    events.Add(i, 2 * (100'000 - i), static_cast<Category>(i % 5));
  }
  lane.Append(events.All());
  LaneMaker make(17);
  RequireEqual(lane, {0, 200'000}, 100);
  for (int i = 0; i < 10; ++i) RequireEqual(lane, AnyWindow(make, events), 50);
}

TEST_CASE("an unknown category counts as another kernel") {
  LaneEvents events;
  events.Add(0, 10, static_cast<Category>(200));
  LaneIndex index;
  index.Append(events.All());
  std::vector<PixelColumn> columns(1);
  index.Columns({0, 10}, columns);
  REQUIRE(columns[0].dominant == Category::kOtherKernel);
}

TEST_CASE("the edge walker gives every column edge") {
  LaneMaker make(19);
  for (int round = 0; round < 500; ++round) {
    Window window = {AnyTime(make), AnyTime(make)};
    if (make.OneIn(2)) window.end_ns = Clamp(Wide{window.start_ns} + make.Log(20));
    if (window.end_ns < window.start_ns) std::swap(window.start_ns, window.end_ns);
    const auto width = static_cast<uint32_t>(make.Int(1, 3'000));
    EdgeWalker walker(window, width);
    for (uint32_t i = 0; i <= width; ++i) REQUIRE(walker.Next() == ColumnEdge(window, width, i));
  }
}

}  // namespace
}  // namespace nanolane::timeline
