#include "clients/desktop/model/packed_column.h"

#include <limits>
#include <random>

#include "catch2/catch.hpp"

namespace nanolane::desktop {

TEST_CASE("a packed column gives back what went in, at every length and width") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 60; ++round) {
    const size_t size = random() % 3 == 0 ? random() % 40 : random() % (3 * PackedColumn::kPage);
    std::vector<int64_t> expected;
    PackedColumn column;
    for (size_t i = 0; i < size; ++i) {
      // Runs of equal ones, of small and of any difference.
      const uint64_t group = i / PackedColumn::kGroup;
      const auto width = static_cast<unsigned>((group * 7 + static_cast<uint64_t>(round)) % 66);
      uint64_t value = random();
      if (width < 64) value &= (uint64_t{1} << width) - 1;
      if (width == 65) value = i % 2 == 0 ? 1ULL << 63 : (1ULL << 63) - 1;
      expected.push_back(static_cast<int64_t>(value));
      column.Append(expected.back());
      // Also while it grows.
      const size_t at = random() % expected.size();
      REQUIRE(column[at] == expected[at]);
    }
    REQUIRE(column.size() == size);
    for (size_t i = 0; i < size; ++i) REQUIRE(column[i] == expected[i]);
  }
}

TEST_CASE("the ends of int64 lie in one group") {
  PackedColumn column;
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < PackedColumn::kPage; ++i) column.Append(i % 3 == 0 ? kLow : kHigh);
  for (size_t i = 0; i < PackedColumn::kPage; ++i) {
    REQUIRE(column[i] == (i % 3 == 0 ? kLow : kHigh));
  }
}

TEST_CASE("a packed column takes the bits that its values need") {
  PackedColumn column;
  int64_t at = 0;
  std::mt19937_64 random(5);
  constexpr size_t kSize = 100 * PackedColumn::kPage;
  for (size_t i = 0; i < kSize; ++i) {
    at += static_cast<int64_t>(random() % 16'000);
    column.Append(at);
  }
  // 256 steps of up to 2^14 span about 2^21: 21 or 22 bits.
  CHECK(column.MemoryBytes() < kSize * 3 + 4'096 * 16);
}

}  // namespace nanolane::desktop
