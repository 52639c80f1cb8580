#include "libs/timeline/lane_index.h"

#include <catch2/catch.hpp>

#include "libs/timeline/lane_index_oracle.h"
#include "libs/timeline/lane_shapes.h"

namespace nanolane::timeline {
namespace {

TEST_CASE("columns equal the oracle at 1,000 random windows of 100,000 events") {
  LaneMaker make(1);
  const LaneEvents events = make.Stream(
      {.events = 100'000, .instant_one_in = 10, .overlap_one_in = 10});
  LaneIndex index;
  LaneOracle oracle;
  index.Append(events.All());
  oracle.Append(events.All());
  std::vector<PixelColumn> columns;
  for (int round = 0; round < 1'000; ++round) {
    const int64_t length = make.Log(32);
    const int64_t start = make.Int(index.first_ns() - length, index.last_ns());
    const Window window = {start, start + length};
    columns.resize(static_cast<size_t>(make.Int(1, 2'000)));
    index.Columns(window, columns);
    const auto expected = oracle.Columns(window, static_cast<uint32_t>(columns.size()));
    const bool equal = columns == expected;
    if (!equal) {
      for (size_t i = 0; i < columns.size(); ++i) {
        if (!(columns[i] == expected[i])) {
          FAIL("round " << round << " column " << i << " covered " << columns[i].covered_ns << "/"
                        << expected[i].covered_ns << " starts " << columns[i].starts << "/"
                        << expected[i].starts << " dom " << int(columns[i].dominant) << "/"
                        << int(expected[i].dominant) << " present " << columns[i].present << "/"
                        << expected[i].present);
        }
      }
    }
    REQUIRE(equal);
    REQUIRE(index.Count(window) == oracle.Count(window));
  }
}

}  // namespace
}  // namespace nanolane::timeline
