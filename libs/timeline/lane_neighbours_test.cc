// Stepping from event to event against a sorted list of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <tuple>

#include "libs/timeline/lane_index.h"
#include "libs/timeline/lane_shapes.h"

namespace nanolane::timeline {
namespace {

using Key = std::tuple<int64_t, bool, int64_t>;  // start, not an instant, index

LaneIndex::EventPlace PlaceOf(const Key& key) {
  return {std::get<0>(key), !std::get<1>(key), std::get<2>(key)};
}

// Many equal starts, instants among them, and deep overlaps.
LaneEvents Crowd(LaneMaker& make, size_t size) {
  LaneEvents events;
  const int64_t extent = make.OneIn(2) ? 20 : 2'000;
  for (size_t i = 0; i < size; ++i) {
    events.Add(make.Int(-extent, extent), make.OneIn(3) ? 0 : make.Int(-1, 40), make.AnyOf(3));
  }
  return events;
}

}  // namespace

TEST_CASE("every event is reached by stepping, forwards and backwards") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    LaneMaker make(seed);
    const LaneEvents events =
        Crowd(make, static_cast<size_t>(make.Int(1, seed % 20 == 0 ? 3'000 : 60)));
    LaneIndex lane;
    const auto half = events.size() / 2;
    lane.Append(events.Batch(0, half));
    lane.Append(events.Batch(half, events.size() - half));
    std::vector<Key> sorted;
    for (size_t i = 0; i < events.size(); ++i) {
      sorted.emplace_back(events.start_ns[i], events.duration_ns[i] > 0, static_cast<int64_t>(i));
    }
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) {
      const auto after = lane.Neighbour(PlaceOf(sorted[i]), false);
      const auto before = lane.Neighbour(PlaceOf(sorted[i]), true);
      REQUIRE(after.has_value() == (i + 1 < sorted.size()));
      REQUIRE(before.has_value() == (i > 0));
      if (after) REQUIRE(static_cast<int64_t>(*after) == std::get<2>(sorted[i + 1]));
      if (before) REQUIRE(static_cast<int64_t>(*before) == std::get<2>(sorted[i - 1]));
    }
    // From a time at which nothing need start.
    for (int i = 0; i < 30; ++i) {
      const int64_t time = make.Int(-2'100, 2'100);
      const auto found = lane.Neighbour({time, true, -1}, false);
      const auto expected = std::lower_bound(sorted.begin(), sorted.end(), Key{time, false, -1});
      REQUIRE(found.has_value() == (expected != sorted.end()));
      if (found) REQUIRE(static_cast<int64_t>(*found) == std::get<2>(*expected));
    }
  }
}

TEST_CASE("an empty lane has no neighbours") {
  const LaneIndex lane;
  CHECK_FALSE(lane.Neighbour({0, true, -1}, false).has_value());
  CHECK_FALSE(lane.Neighbour({0, true, -1}, true).has_value());
}

}  // namespace nanolane::timeline
