#include "libs/timeline/density.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "libs/timeline/columns.h"

namespace nanolane::timeline {
namespace {

using trace::EventKind;

struct Span {
  int64_t start_ns;
  int64_t duration_ns;
  EventKind kind;
};

int64_t EndOf(const Span& span) {
  const Wide end = Wide{span.start_ns} + std::max<int64_t>(span.duration_ns, 0);
  return static_cast<int64_t>(std::min<Wide>(end, std::numeric_limits<int64_t>::max()));
}

// What a bin holds, by definition.
DensityBin BinOf(const std::vector<Span>& spans, int level, int64_t index) {
  DensityBin bin;
  const Wide left = Wide{index} * (Wide{1} << level);
  const Wide right = left + (Wide{1} << level);
  for (const Span& span : spans) {
    DensityBin::Cell& cell = bin.kinds[static_cast<size_t>(span.kind)];
    if (left <= span.start_ns && span.start_ns < right) ++cell.events;
    const Wide part = std::min<Wide>(EndOf(span), right) - std::max<Wide>(span.start_ns, left);
    if (part > 0) cell.busy_ns += static_cast<uint64_t>(part);
  }
  return bin;
}

void AddOne(DensityPyramid& pyramid, const Span& span) {
  pyramid.Add({&span.start_ns, 1}, {&span.duration_ns, 1}, {&span.kind, 1});
}

std::vector<Span> RandomSpans(std::mt19937_64& random, int count, int64_t extent) {
  std::vector<Span> spans;
  for (int i = 0; i < count; ++i) {
    const auto start = static_cast<int64_t>(random() % static_cast<uint64_t>(extent)) - extent / 2;
    const uint64_t shape = random() % 10;
    const int64_t duration = shape == 0   ? 0
                             : shape == 1 ? static_cast<int64_t>(random() % 5'000'000'000)
                                          : static_cast<int64_t>(random() % 50'000);
    spans.push_back({start, duration, static_cast<EventKind>(1 + random() % 7)});
  }
  return spans;
}

void CheckAgainstOracle(const DensityPyramid& pyramid, const std::vector<Span>& spans) {
  for (int number = 0; number < DensityPyramid::kLevels; ++number) {
    uint64_t events = 0;
    for (const auto& [index, bin] : pyramid.bins(number)) {
      if (!(bin == BinOf(spans, pyramid.level(number), index))) {
        FAIL("level " << pyramid.level(number) << " bin " << index);
      }
      for (const DensityBin::Cell& cell : bin.kinds) events += cell.events;
    }
    CHECK(events == spans.size());
  }
}

TEST_CASE("bins hold what a scan of all events finds in them, at every level") {
  std::mt19937_64 random(11);
  for (const int64_t extent : {int64_t{1'000'000}, int64_t{3'000'000'000}, int64_t{1} << 50}) {
    const std::vector<Span> spans = RandomSpans(random, 300, extent);
    DensityPyramid pyramid;
    for (const Span& span : spans) AddOne(pyramid, span);
    CHECK(pyramid.bins(0).size() <= DensityPyramid::kMostBins);
    CheckAgainstOracle(pyramid, spans);
  }
}

TEST_CASE("times at the ends of int64 and spans over all of it are counted") {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::vector<Span> spans = {{kMin, 5, EventKind::kKernel},
                                   {kMax, 5, EventKind::kKernel},
                                   {kMin, kMax, EventKind::kNvtx},
                                   {0, kMax, EventKind::kNvtx},
                                   {-1, -7, EventKind::kSync}};
  DensityPyramid pyramid;
  for (const Span& span : spans) AddOne(pyramid, span);
  CheckAgainstOracle(pyramid, spans);
}

TEST_CASE("two far clusters keep a fine level") {
  DensityPyramid pyramid;
  AddOne(pyramid, {0, 100, EventKind::kKernel});
  for (int64_t i = 0; i < 1'000; ++i) {
    AddOne(pyramid, {1'670'000'000'000'000'000 + i * 1'000'000, 100, EventKind::kKernel});
  }
  CHECK(pyramid.finest_level() == DensityPyramid::kFinestLevel);
}

TEST_CASE("changed rows, written one after the other, restore the pyramid") {
  std::mt19937_64 random(5);
  DensityPyramid pyramid;
  std::map<DensityPyramid::RowKey, DensityBins> stored;
  std::vector<Span> all;
  for (int round = 0; round < 40; ++round) {
    // The extent grows, so that levels become coarser on the way.
    const std::vector<Span> news = RandomSpans(random, 20, int64_t{1} << (22 + round / 2));
    for (const Span& span : news) AddOne(pyramid, span);
    pyramid.AddLosses(round * 1'000'000, 2);
    all.insert(all.end(), news.begin(), news.end());
    for (const auto& key : pyramid.TakeChangedRows()) {
      const DensityBins row = pyramid.RowOf(key);
      if (row.empty()) {
        stored.erase(key);
      } else {
        stored[key] = row;
      }
    }
    const DensityPyramid back = DensityPyramid::Restore(pyramid.finest_level(), stored);
    for (int number = 0; number < DensityPyramid::kLevels; ++number) {
      REQUIRE(back.level(number) == pyramid.level(number));
      REQUIRE(back.bins(number) == pyramid.bins(number));
    }
  }
  uint64_t losses = 0;
  for (const auto& [index, bin] : pyramid.bins(0)) losses += bin.losses;
  CHECK(losses == 80);
}

TEST_CASE("the level to read is the coarsest that is not coarser than wanted") {
  CHECK(LevelToRead(20, 19) == 20);
  CHECK(LevelToRead(20, 23) == 20);
  CHECK(LevelToRead(20, 24) == 24);
  CHECK(LevelToRead(20, 60) == 28);
}

}  // namespace
}  // namespace nanolane::timeline
