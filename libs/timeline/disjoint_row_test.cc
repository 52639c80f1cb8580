// DisjointRow as a set of times, against a bitmap, with enough spans for many chunks.
#include "libs/timeline/disjoint_row.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "libs/timeline/lane_shapes.h"

namespace nanolane::timeline {
namespace {

constexpr int64_t kSize = 6'000;

struct Bitmap {
  std::vector<bool> covered = std::vector<bool>(kSize, false);

  void Set(int64_t start, int64_t end, bool value) {
    std::fill(covered.begin() + start, covered.begin() + end, value);
  }
  std::vector<RowSpan> Runs() const {
    std::vector<RowSpan> runs;
    for (int64_t i = 0; i < kSize; ++i) {
      if (!covered[static_cast<size_t>(i)]) continue;
      if (!runs.empty() && runs.back().end_ns == i) {
        ++runs.back().end_ns;
      } else {
        runs.push_back({.start_ns = i, .end_ns = i + 1});
      }
    }
    return runs;
  }
};

void RequireEqual(const DisjointRow& row, const Bitmap& bitmap) {
  const std::vector<RowSpan> runs = bitmap.Runs();
  REQUIRE(row.size() == runs.size());
  std::vector<RowSpan> spans;
  row.ForEach([&](const RowSpan& span) { spans.push_back(span); });
  uint64_t length = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    REQUIRE(spans[i].start_ns == runs[i].start_ns);
    REQUIRE(spans[i].end_ns == runs[i].end_ns);
    REQUIRE(row.At(i).start_ns == runs[i].start_ns);
    REQUIRE(row.Locate(runs[i].end_ns).length == length + runs[i].length());
    REQUIRE(row.Locate(runs[i].start_ns).rank == i);
    length += runs[i].length();
  }
  REQUIRE(row.length() == length);
  if (!runs.empty()) REQUIRE(row.last_end_ns() == runs.back().end_ns);
}

TEST_CASE("a row under random unions and cuts equals a bitmap") {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    LaneMaker make(seed);
    DisjointRow row(DisjointRow::Keep::kTimesOnly);
    Bitmap bitmap;
    if (make.OneIn(2)) {  // a comb of many chunks to begin with
      for (int64_t i = 0; i + 1 < kSize; i += 2) {
        row.Unite(i, i + 1);
        bitmap.Set(i, i + 1, true);
      }
    }
    const int longest = static_cast<int>(make.Int(1, 12));
    for (int round = 0; round < 40; ++round) {
      for (int64_t i = make.Int(1, 30); i > 0; --i) {
        const int64_t start = make.Int(0, kSize - 2);
        const int64_t end = std::min(kSize, start + make.Log(longest));
        const bool unite = make.OneIn(2);
        unite ? row.Unite(start, end) : row.Cut(start, end);
        bitmap.Set(start, end, unite);
      }
      row.Commit();
      if (round % 8 == 7) RequireEqual(row, bitmap);
    }
  }
}

TEST_CASE("cuts and unions at each end of each span of many chunks equal a bitmap") {
  for (const bool unite : {false, true}) {
    for (int64_t offset = 0; offset < 4; ++offset) {
      for (const int64_t length : {1, 2, 3, 1'023, 1'024, 1'025}) {
        DisjointRow row(DisjointRow::Keep::kTimesOnly);
        Bitmap bitmap;
        for (int64_t i = 0; i + 4 < kSize; i += 4) {
          row.Unite(i, i + 2);
          bitmap.Set(i, i + 2, true);
        }
        row.Commit();
        for (int64_t start = offset; start + length < kSize; start += 2 * length + 6) {
          unite ? row.Unite(start, start + length) : row.Cut(start, start + length);
          bitmap.Set(start, start + length, unite);
        }
        row.Commit();
        RequireEqual(row, bitmap);
      }
    }
  }
}

TEST_CASE("a row that is cut away wholly is empty and can be filled again") {
  DisjointRow row(DisjointRow::Keep::kTimesOnly);
  for (int64_t i = 0; i < 2'000; ++i) row.Unite(10 * i, 10 * i + 5);
  row.Commit();
  row.Cut(-100, 100'000);
  row.Commit();
  REQUIRE(row.empty());
  REQUIRE(row.length() == 0);
  REQUIRE(row.Locate(50).rank == 0);
  row.Unite(7, 9);
  row.Commit();
  REQUIRE(row.size() == 1);
  REQUIRE(row.Locate(8).length == 1);
}

}  // namespace
}  // namespace nanolane::timeline
