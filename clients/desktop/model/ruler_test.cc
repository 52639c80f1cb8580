#include "clients/desktop/model/ruler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "clients/desktop/model/quantity_text.h"

namespace nanolane::desktop {
namespace {

std::vector<std::string> Labels(int64_t start, int64_t end, double gap = 132) {
  std::vector<std::string> labels;
  for (const RulerTick& tick : RulerTicks({start, end}, 1'320, gap, 0))
    labels.push_back(tick.label);
  return labels;
}

}  // namespace

TEST_CASE("steps are one, two or five times a power of ten") {
  CHECK(RoundStep(1) == 1);
  CHECK(RoundStep(3) == 5);
  CHECK(RoundStep(11) == 20);
  CHECK(RoundStep(100'000'001) == 200'000'000);
}

TEST_CASE("steps above a second are those of a clock") {
  CHECK(RoundStep(1'000'000'001) == 2'000'000'000);
  CHECK(RoundStep(11'000'000'000) == 30'000'000'000);
  CHECK(RoundStep(61'000'000'000) == 120'000'000'000);
  CHECK(RoundStep(3'601'000'000'000) == 7'200'000'000'000);
  CHECK(RoundStep(std::numeric_limits<int64_t>::max()) > 0);
}

TEST_CASE("ticks are round times with their unit") {
  CHECK(Labels(150'000'000, 260'000'000) ==
        std::vector<std::string>{"160 ms", "180 ms", "200 ms", "220 ms", "240 ms"});
}

TEST_CASE("labels are exact where a microsecond fills the window") {
  const auto labels = Labels(208'512'984, 208'513'984);
  REQUIRE(labels.size() >= 4);
  CHECK(labels[0] == "208.513 000 ms");
  CHECK(labels[1] == "208.513 200 ms");
}

TEST_CASE("minutes and hours read as a clock") {
  CHECK(RulerLabel(125'500'000'000, 125'500'000'000, 500'000'000) == "2:05.5");
  CHECK(RulerLabel(3'723'000'000'000, 3'723'000'000'000, 1'000'000'000) == "1:02:03");
  CHECK(RulerLabel(-150'000'000'000, 150'000'000'000, 1'000'000'000) == "-2:30");
}

TEST_CASE("the origin carries a tick") {
  const auto ticks = RulerTicks({-1'000, 1'000}, 1'000, 100, 0);
  const bool found = std::any_of(ticks.begin(), ticks.end(),
                                 [](const RulerTick& tick) { return tick.time_ns == 0; });
  CHECK(found);
}

TEST_CASE("ticks lie inside the window, apart, and in order, from an hour down to a nanosecond") {
  for (int64_t span = 3'600'000'000'000; span >= 1; span = span * 2 / 3) {
    const int64_t start = 1'670'000'000'000'000'000 + span / 7;
    const auto ticks = RulerTicks({start, start + span}, 1'432, 132, 1'670'000'000'000'000'000);
    REQUIRE(ticks.size() <= 12);
    for (size_t i = 0; i < ticks.size(); ++i) {
      REQUIRE(ticks[i].time_ns >= start);
      REQUIRE(ticks[i].time_ns < start + span);
      REQUIRE(ticks[i].x >= 0);
      REQUIRE(ticks[i].x < 1'432);
      if (i > 0) REQUIRE(ticks[i].x - ticks[i - 1].x >= 131.9);
      if (i > 0) REQUIRE(ticks[i].label != ticks[i - 1].label);
    }
    if (span == 1) break;
  }
}

TEST_CASE("exact times carry every digit") {
  CHECK(ExactTime(832) == "832 ns");
  CHECK(ExactTime(312'416) == "312.416 µs");
  CHECK(ExactTime(208'512'984) == "208.512 984 ms");
  CHECK(ExactTime(1'234'567'890) == "1.234 567 890 s");
  CHECK(ExactTime(0) == "0 ns");
  CHECK(ExactTime(-1'500) == "-1.500 µs");
}

TEST_CASE("bytes, rates and shares are short and never say nothing for something") {
  CHECK(BytesText(96) == "96 B");
  CHECK(BytesText(24'576) == "24.6 KB");
  CHECK(BytesText(41'200'000'000) == "41.2 GB");
  CHECK(BytesText(-2'000'000) == "-2 MB");
  CHECK(RateText(131'072, 4'992) == "26.3 GB/s");
  CHECK(RateText(131'072, 0).empty());
  CHECK(ShareText(312, 1'000) == "31.2 %");
  CHECK(ShareText(1, 100'000'000) == "< 0.01 %");
  CHECK(ShareText(0, 100) == "0 %");
  CHECK(ShareText(999'999, 1'000'000) == "99.9 %");
  CHECK(ShareText(7, 7) == "100 %");
}

}  // namespace nanolane::desktop
