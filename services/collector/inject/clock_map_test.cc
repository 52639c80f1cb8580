#include "services/collector/inject/clock_map.h"

#include <cstdint>

#include "catch2/catch.hpp"
#include "services/collector/inject/clock.h"

namespace nanolane::inject {
namespace {

enum class Source { kRealtime, kMonotonic, kTicks, kStill, kNone };
Source g_source = Source::kRealtime;
// Of the wall clock, as ClockMap reads it.
int64_t g_step = 0;

constexpr uint64_t kTickBase = 1'000'000'000'000'000ULL;

// Ticks of 0.4 ns, from an unknown beginning.
uint64_t TicksAt(int64_t monotonic_ns) {
  return kTickBase + static_cast<uint64_t>(monotonic_ns) * 5 / 2;
}

CUptiResult GetTimestamp(uint64_t* time) {
  switch (g_source) {
    case Source::kRealtime: *time = static_cast<uint64_t>(RealtimeNs() + g_step); break;
    case Source::kMonotonic: *time = static_cast<uint64_t>(MonotonicNs()); break;
    case Source::kTicks: *time = TicksAt(MonotonicNs()); break;
    case Source::kStill: *time = 77; break;
    case Source::kNone: return CUPTI_ERROR_UNKNOWN;
  }
  return CUPTI_SUCCESS;
}

int64_t FakeRealtime() { return RealtimeNs() + g_step; }

CuptiLibrary Library(Source source) {
  g_source = source;
  g_step = 0;
  CuptiLibrary cupti{};
  cupti.get_timestamp = &GetTimestamp;
  return cupti;
}

int64_t Distance(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

// The machine may take the thread away between two readings of a test's own.
constexpr int64_t kNear = 5'000'000;

}  // namespace

TEST_CASE("times of the wall clock are moved by its offset") {
  const CuptiLibrary cupti = Library(Source::kRealtime);
  ClockMap map;
  REQUIRE(map.Start(cupti));
  CHECK_FALSE(map.is_unknown_clock());
  const auto now = static_cast<uint64_t>(RealtimeNs());
  CHECK(Distance(map.ToMonotonic(now), MonotonicNs()) < kNear);
  CHECK(map.ToMonotonic(now + 1'000) - map.ToMonotonic(now) == 1'000);
  map.Sample();
  CHECK(map.steps() == 0);
}

TEST_CASE("times of the monotonic clock stay as they are") {
  const CuptiLibrary cupti = Library(Source::kMonotonic);
  ClockMap map;
  REQUIRE(map.Start(cupti));
  CHECK_FALSE(map.is_unknown_clock());
  CHECK(map.ToMonotonic(123'456'789) == 123'456'789);
}

TEST_CASE("ticks of another tool's clock are measured") {
  const CuptiLibrary cupti = Library(Source::kTicks);
  ClockMap map;
  REQUIRE(map.Start(cupti));
  CHECK(map.is_unknown_clock());
  const int64_t now = MonotonicNs();
  // The rate is known from 20 ms; an error of it grows with the distance.
  for (const int64_t ago : {0LL, 1'000'000LL, 10'000'000LL}) {
    CHECK(Distance(map.ToMonotonic(TicksAt(now - ago)), now - ago) < kNear);
  }
  const int64_t start = map.ToMonotonic(TicksAt(now));
  const int64_t duration = map.ToMonotonic(TicksAt(now + 1'000'000)) - start;
  CHECK(duration == Approx(1'000'000).epsilon(0.05));
  map.Sample();
  CHECK(Distance(map.ToMonotonic(TicksAt(now)), now) < kNear);
}

TEST_CASE("a clock that stands still or gives nothing is refused") {
  ClockMap map;
  const CuptiLibrary still = Library(Source::kStill);
  CHECK_FALSE(map.Start(still));
  const CuptiLibrary none = Library(Source::kNone);
  CHECK_FALSE(map.Start(none));
}

TEST_CASE("a start looks at the clock anew") {
  ClockMap map;
  const CuptiLibrary ticks = Library(Source::kTicks);
  REQUIRE(map.Start(ticks));
  CHECK(map.is_unknown_clock());
  const CuptiLibrary wall = Library(Source::kRealtime);
  REQUIRE(map.Start(wall));
  CHECK_FALSE(map.is_unknown_clock());
}

TEST_CASE("a wall clock that steps forward") {
  const CuptiLibrary cupti = Library(Source::kRealtime);
  ClockMap map(&FakeRealtime);
  REQUIRE(map.Start(cupti));
  const int64_t before = MonotonicNs();
  const auto before_wall = static_cast<uint64_t>(FakeRealtime());
  g_step += 30'000'000'000;
  map.Sample();
  CHECK(map.steps() == 1);
  const int64_t after = MonotonicNs();
  const auto after_wall = static_cast<uint64_t>(FakeRealtime());
  // Records from before the step come after it was seen.
  CHECK(Distance(map.ToMonotonic(before_wall), before) < kNear);
  CHECK(Distance(map.ToMonotonic(after_wall), after) < kNear);
  map.Sample();
  CHECK(map.steps() == 1);
}

TEST_CASE("a wall clock that steps back") {
  const CuptiLibrary cupti = Library(Source::kRealtime);
  ClockMap map(&FakeRealtime);
  REQUIRE(map.Start(cupti));
  g_step -= 30'000'000'000;
  map.Sample();
  CHECK(map.steps() == 1);
  const int64_t after = MonotonicNs();
  const auto after_wall = static_cast<uint64_t>(FakeRealtime());
  CHECK(Distance(map.ToMonotonic(after_wall), after) < kNear);
}

}  // namespace nanolane::inject
