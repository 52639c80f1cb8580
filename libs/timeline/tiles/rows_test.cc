#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>

#include "libs/timeline/lane_shapes.h"
#include "libs/timeline/tiles/packed_ints.h"
#include "libs/timeline/tiles/span_group.h"
#include "libs/timeline/tiles/tile_test_lane.h"

namespace nanolane::timeline {
namespace {

constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
constexpr int64_t kLast = std::numeric_limits<int64_t>::max();

std::vector<TileSpan> Stream(LaneMaker& make, size_t count, int64_t labels) {
  const LaneEvents lane = make.Stream({.events = count, .instant_one_in = 9});
  std::vector<TileSpan> spans;
  for (size_t i = 0; i < lane.size(); ++i) {
    spans.push_back(SpanOf(lane.start_ns[i], lane.duration_ns[i],
                           static_cast<uint32_t>(make.Int(0, labels - 1))));
  }
  return spans;
}

// Sorted times over all of int64, paired up to disjoint spans.
std::vector<TileSpan> ExtremeSpans(LaneMaker& make, size_t count) {
  std::vector<int64_t> times;
  const int bits = static_cast<int>(make.Int(1, 62));
  for (size_t i = 0; i < 2 * count; ++i) {
    times.push_back(make.OneIn(8) ? make.Int(kFirst, kLast) : make.Log(bits));
  }
  if (make.OneIn(3)) times.front() = kFirst;
  if (make.OneIn(3)) times.back() = kLast;
  std::sort(times.begin(), times.end());
  std::vector<TileSpan> spans;
  for (size_t i = 0; i < count; ++i) {
    spans.push_back(
        {times[2 * i], times[2 * i + 1],
         static_cast<uint32_t>(make.OneIn(20) ? make.Int(0, 0xffffffff) : make.Log(6))});
  }
  return spans;
}

std::vector<uint32_t> Labels(uint32_t count) {
  std::vector<uint32_t> labels(count);
  for (uint32_t i = 0; i < count; ++i) labels[i] = i;
  return labels;
}

}  // namespace

TEST_CASE("packed integers of any size come back") {
  LaneMaker make(1);
  for (int round = 0; round < 3'000; ++round) {
    std::vector<uint64_t> values(static_cast<size_t>(make.Int(0, kMaxPackedInts)));
    const int64_t bits = make.Int(0, 64);
    for (uint64_t& value : values) {
      value = make.random()();
      if (bits < 64 && !make.OneIn(30)) value &= (uint64_t{1} << bits) - 1;
    }
    std::string bytes;
    AppendPackedInts(values, bytes);
    bytes += "rest";
    BytesReader in(bytes);
    std::vector<uint64_t> read(values.size());
    ReadPackedInts(in, read);
    REQUIRE(in.ok());
    REQUIRE(in.remaining() == 4);
    REQUIRE(read == values);
  }
}

TEST_CASE("one long gap does not widen a group") {
  LaneMaker make(2);
  std::vector<TileSpan> spans = Stream(make, 256, 30);
  const size_t before = EncodeGroup(spans, RowKind::kDisjoint).size();
  for (size_t i = 100; i < spans.size(); ++i) {
    spans[i].start_ns += 3'600'000'000'000;
    spans[i].end_ns += 3'600'000'000'000;
  }
  CHECK(EncodeGroup(spans, RowKind::kDisjoint).size() <= before + 8);
}

TEST_CASE("groups of spans anywhere in int64 come back") {
  LaneMaker make(3);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<TileSpan> spans =
        ExtremeSpans(make, static_cast<size_t>(make.Int(1, kGroupEvents)));
    const auto kind = static_cast<RowKind>(make.Int(0, 2));
    if (kind == RowKind::kLoose) {
      for (TileSpan& span : spans) span.end_ns = make.Int(span.start_ns, kLast);
    }
    if (kind == RowKind::kCover) {
      for (TileSpan& span : spans) span.label = 0;
    }
    SpanGroup group;
    REQUIRE(group.Decode(EncodeGroup(spans, kind), kind, spans.size()).ok());
    REQUIRE(group.count == spans.size());
    for (size_t i = 0; i < spans.size(); ++i) REQUIRE(group.At(i) == spans[i]);
  }
}

TEST_CASE("the spans of a window are read back from a row") {
  LaneMaker make(4);
  const std::vector<TileSpan> spans = Stream(make, 20'000, 50);
  for (const RowKind kind : {RowKind::kDisjoint, RowKind::kLoose}) {
    const RowBytes row = BuildRow(spans, kind);
    for (int i = 0; i < 50; ++i) {
      const TileSpan& near = spans[static_cast<size_t>(make.Int(0, 19'999))];
      const Window window = {near.start_ns - make.Int(0, 1), near.start_ns + make.Log(24)};
      std::vector<TileSpan> expected;
      for (const TileSpan& span : spans) {
        const bool starts = window.start_ns <= span.start_ns && span.start_ns < window.end_ns;
        const bool runs = span.start_ns < window.start_ns && span.end_ns > window.start_ns;
        if (starts || runs) expected.push_back(span);
      }
      std::vector<TileSpan> found;
      MemoryRow source(row);
      REQUIRE(VisitSpans(row.root, source, window, [&](const TileSpan& span) {
                found.push_back(span);
              }).ok());
      REQUIRE(found == expected);
    }
  }
}

TEST_CASE("a root says what its row holds") {
  LaneMaker make(5);
  const std::vector<TileSpan> spans = Stream(make, 10'000, 50);
  uint64_t total = 0;
  for (const TileSpan& span : spans) total += span.length();
  const auto summary = SummaryOf(BuildRow(spans, RowKind::kCover).root);
  REQUIRE(summary.ok());
  CHECK(summary->kind == RowKind::kCover);
  CHECK(summary->events == 10'000);
  CHECK(summary->first_ns == spans.front().start_ns);
  CHECK(summary->last_ns == spans.back().end_ns);
  CHECK(summary->total_ns == total);
}

TEST_CASE("columns read only the pages and groups in which their edges fall, once, in order") {
  LaneMaker make(6);
  const std::vector<TileSpan> spans = Stream(make, 400'000, 60);
  const RowBytes row = BuildRow(spans, RowKind::kDisjoint);
  const std::vector<uint32_t> labels = Labels(60);
  const auto ascends = [](const std::vector<uint32_t>& numbers) {
    return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) ==
           numbers.end();
  };
  for (const uint32_t width : {1U, 10U, 64U, 1'600U}) {
    MemoryRow source(row);
    LaneTiles tiles({spans.front().start_ns, spans.back().end_ns + 1}, width);
    REQUIRE(tiles.AddRow(row.root, source, {.events = true, .covers = true}, labels).ok());
    CHECK(source.pages.size() <= width + 1);
    CHECK(source.groups.size() <= width + 1);
    CHECK(ascends(source.pages));
    CHECK(ascends(source.groups));
  }
}

TEST_CASE("damaged rows give a status, never a crash") {
  LaneMaker make(8);
  const std::vector<uint32_t> labels = Labels(300);
  for (const RowKind kind : {RowKind::kDisjoint, RowKind::kCover, RowKind::kLoose}) {
    std::vector<TileSpan> spans = Stream(make, 9'000, 300);
    if (kind == RowKind::kCover)
      std::erase_if(spans, [](const TileSpan& s) { return s.instant(); });
    const Window window = {spans.front().start_ns, spans.back().end_ns};
    const RowBytes row = BuildRow(spans, kind);
    for (int i = 0; i < 1'500; ++i) {
      RowBytes damaged = row;
      const bool in_root = make.OneIn(2);
      const auto any_of = [&make](std::vector<std::string>& pieces) -> std::string& {
        return pieces[static_cast<size_t>(make.Int(0, static_cast<int64_t>(pieces.size()) - 1))];
      };
      std::string& piece = in_root         ? damaged.root
                           : make.OneIn(2) ? any_of(damaged.pages)
                                           : any_of(damaged.groups);
      const bool cut = make.OneIn(4);
      const auto size = static_cast<int64_t>(piece.size());
      if (cut) piece.resize(static_cast<size_t>(make.Int(0, size - 1)));
      for (int64_t flips = cut ? 0 : make.Int(1, 4); flips > 0; --flips) {
        // Headers are where it hurts.
        const int64_t last = make.OneIn(2) ? size - 1 : std::min<int64_t>(size - 1, 60);
        piece[static_cast<size_t>(make.Int(0, last))] = static_cast<char>(make.Int(-128, 127));
      }
      MemoryRow source(damaged);
      LaneTiles tiles(window, 200);
      const RowRole role = {.events = kind != RowKind::kCover, .covers = kind != RowKind::kLoose};
      const absl::Status status = tiles.AddRow(damaged.root, source, role, labels);
      if (cut && in_root) REQUIRE(status.code() == absl::StatusCode::kDataLoss);
      std::vector<TileColumn> columns(200);
      const std::vector<Label> names(300);
      if (status.ok()) REQUIRE(tiles.Finish(names, columns).ok());
      MemoryRow again(damaged);
      size_t visited = 0;
      (void)VisitSpans(damaged.root, again, window, [&](const TileSpan&) { ++visited; });
      REQUIRE(visited <= 9'216);
    }
  }
}

TEST_CASE("a label that the query does not know is data loss") {
  LaneMaker make(9);
  for (const RowKind kind : {RowKind::kDisjoint, RowKind::kLoose}) {
    std::vector<TileSpan> spans = Stream(make, 1'000, 50);
    spans[500].label = 50;
    const RowBytes row = BuildRow(spans, kind);
    MemoryRow source(row);
    LaneTiles tiles({spans.front().start_ns, spans.back().end_ns}, 10);
    CHECK(tiles.AddRow(row.root, source, {}, Labels(50)).code() == absl::StatusCode::kDataLoss);
  }
}

}  // namespace nanolane::timeline
