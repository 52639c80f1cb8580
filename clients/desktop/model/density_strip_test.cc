#include "clients/desktop/model/density_strip.h"

#include <catch2/catch.hpp>
#include <random>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

struct Truth {
  bool present = false;
  uint64_t losses = 0;
};

// Asks every bin about every column.
std::vector<Truth> Brute(const std::vector<DensityLayer>& layers, const timeline::Window& window,
                         size_t count) {
  std::vector<Truth> truth(count);
  for (const DensityLayer& layer : layers) {
    for (const DensityBin& bin : layer.bins) {
      const Wide from = static_cast<Wide>(bin.index) << layer.level;
      const Wide to = from + (Wide{1} << layer.level);
      bool given = false;
      for (uint32_t i = 0; i < count; ++i) {
        const Wide left = timeline::ColumnEdge(window, static_cast<uint32_t>(count), i);
        const Wide right = timeline::ColumnEdge(window, static_cast<uint32_t>(count), i + 1);
        if (std::max(left, from) >= std::min(right, to)) continue;
        if (bin.events > 0) truth[i].present = true;
        if (!given) truth[i].losses += bin.losses;
        given = true;
      }
    }
  }
  return truth;
}

}  // namespace

TEST_CASE("columns of the strip equal a brute-force reading of the bins") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<DensityLayer> layers(1 + random() % 3);
    uint64_t events = 0;
    const timeline::Window window{static_cast<int64_t>(random() % 5'000) - 2'500,
                                  2'600 + static_cast<int64_t>(random() % 9'000)};
    for (DensityLayer& layer : layers) {
      layer.level = static_cast<uint32_t>(random() % 10);
      int64_t index = -(int64_t{3'000} >> layer.level);
      while (layer.bins.size() < 40) {
        index += 1 + static_cast<int64_t>(random() % 9);
        layer.bins.push_back({.index = index,
                              .events = random() % 3,
                              .busy_ns = random() % 3 == 0 ? 0 : random() % (1U << layer.level),
                              .losses = random() % 4 == 0 ? random() % 5 : 0});
        if (layer.bins.back().events == 0) layer.bins.back().busy_ns = 0;
        const Wide from = static_cast<Wide>(index) << layer.level;
        const Wide to = from + (Wide{1} << layer.level);
        if (to > window.start_ns && from < window.end_ns) events += layer.bins.back().events;
      }
    }
    const size_t count = 1 + random() % 300;
    const std::vector<StripColumn> columns = StripColumns(layers, window, count);
    const std::vector<Truth> truth = Brute(layers, window, count);
    uint64_t counted = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < count; ++i) {
      counted += columns[i].events;
      wrong += columns[i].present != truth[i].present ? 1 : 0;
      wrong += columns[i].losses != truth[i].losses ? 1 : 0;
    }
    CHECK(wrong == 0);
    CHECK(counted == events);
    CHECK(StripPartOf(layers, window).events == events);
  }
}

TEST_CASE("busy time is spread over the columns of a bin and adds up over narrower ones") {
  // One bin of 1024 ns, half busy, over columns of 256 ns; then four of 256 in one column.
  const std::vector<DensityLayer> wide = {
      {.level = 10, .bins = {{.index = 0, .events = 1, .busy_ns = 512, .losses = 0}}}};
  for (const StripColumn& column : StripColumns(wide, {0, 1'024}, 4)) {
    CHECK(column.busy == Approx(0.5));
    CHECK(column.present);
  }
  const std::vector<DensityLayer> narrow = {{.level = 8,
                                             .bins = {{.index = 0, .events = 1, .busy_ns = 256},
                                                      {.index = 2, .events = 1, .busy_ns = 128}}}};
  CHECK(StripColumns(narrow, {0, 1'024}, 1)[0].busy == Approx(0.375));
}

TEST_CASE("what holds one event for no time is seen in a strip of a day") {
  const std::vector<DensityLayer> layers = {
      {.level = 20, .bins = {{.index = 1'000, .events = 1, .busy_ns = 0, .losses = 0}}}};
  const int64_t day_ns = int64_t{86'400} * 1'000'000'000;
  size_t present = 0;
  for (const StripColumn& column : StripColumns(layers, {0, day_ns}, 1'400)) {
    present += column.present ? 1 : 0;
  }
  CHECK(present == 1);
}

TEST_CASE("an empty window has empty columns") {
  CHECK(StripColumns({}, {5, 5}, 3).size() == 3);
  CHECK(StripColumns({}, {5, 9}, 0).empty());
}

}  // namespace nanolane::desktop
