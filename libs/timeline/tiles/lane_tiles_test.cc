#include "libs/timeline/tiles/lane_tiles.h"

#include <catch2/catch.hpp>
#include <limits>
#include <ostream>

#include "libs/timeline/lane_shapes.h"
#include "libs/timeline/tiles/tile_oracle.h"
#include "libs/timeline/tiles/tile_test_lane.h"

namespace nanolane::timeline {

std::ostream& operator<<(std::ostream& out, const TileColumn& c) {
  return out << "{covered " << c.covered_ns << ", starts " << c.starts << ", present " << c.present
             << ", edge " << c.edge_covered << ", dominant " << static_cast<int>(c.dominant)
             << ", name " << c.dominant_name << ", longest " << c.longest_start_ns << " +"
             << c.longest_duration_ns << " label " << c.longest_label << "}";
}

namespace {

constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
constexpr int64_t kLast = std::numeric_limits<int64_t>::max();

std::vector<Label> MakeLabels(LaneMaker& make, int64_t count) {
  std::vector<Label> labels;
  for (int64_t i = 0; i < count; ++i) {
    labels.push_back(
        {make.AnyOf(trace::kCategoryCount), static_cast<uint32_t>(make.Int(1, count))});
  }
  return labels;
}

struct LaneCase {
  std::vector<Label> labels;
  std::vector<TileEvent> events;
  TestLane lane;
  TileOracle oracle{{}};
  Window extent = {kLast, kFirst};

  // Seals the events in steps, most of them in order, and leaves some unsealed.
  void Seal(LaneMaker& make) {
    oracle = TileOracle(labels);
    oracle.Append(events);
    std::vector<size_t> order = make.Jitter(events.size(), make.OneIn(2) ? 0 : 50);
    if (make.OneIn(4)) order = make.Shuffle(events.size());
    const size_t sealed =
        make.OneIn(4) ? events.size()
                      : static_cast<size_t>(make.Int(0, static_cast<int64_t>(events.size())));
    std::vector<TileSpan> step;
    const int64_t steps = make.Int(1, 5);
    for (size_t i = 0; i < events.size(); ++i) {
      const TileEvent& event = events[order[i]];
      const TileSpan span = SpanOf(event.start_ns, event.duration_ns, event.label);
      extent.start_ns = std::min(extent.start_ns, span.start_ns);
      extent.end_ns = std::max(extent.end_ns, span.end_ns);
      if (i >= sealed) {
        lane.AddUnsealed(span);
        continue;
      }
      step.push_back(span);
      if (make.OneIn(std::max<int64_t>(1, static_cast<int64_t>(sealed) / steps))) {
        REQUIRE(lane.Seal(std::exchange(step, {})).ok());
      }
    }
    REQUIRE(lane.Seal(step).ok());
  }

  Window AnyWindow(LaneMaker& make) const {
    if (make.OneIn(8)) return extent;
    const TileEvent& event =
        events[static_cast<size_t>(make.Int(0, static_cast<int64_t>(events.size()) - 1))];
    const int64_t length = make.Log(make.OneIn(3) ? 4 : 62);
    const Wide start = Wide{event.start_ns} - make.Int(0, length) + make.Int(-1, 1);
    const auto clamp = [](Wide time) {
      return static_cast<int64_t>(std::clamp<Wide>(time, kFirst, kLast));
    };
    return {clamp(start), clamp(start + length)};
  }

  void CheckWindow(const Window& window, uint32_t width) const {
    const auto columns = lane.Columns(window, width, labels);
    REQUIRE(columns.ok());
    const std::vector<TileColumn> expected = oracle.Columns(window, width);
    Wide covered = 0;
    for (uint32_t i = 0; i < width; ++i) {
      if (!((*columns)[i] == expected[i])) {
        INFO("window " << window.start_ns << " … " << window.end_ns << ", column " << i << " of "
                       << width);
        REQUIRE((*columns)[i] == expected[i]);
      }
      covered += (*columns)[i].covered_ns;
    }
    const int64_t total = oracle.lane().Covered(window.start_ns, window.end_ns);
    if (total < kLast && !(covered == total)) FAIL("columns do not sum to the window's coverage");
  }
};

std::vector<TileEvent> StreamEvents(LaneMaker& make, const LaneMaker::StreamOptions& options,
                                    int64_t labels) {
  const LaneEvents lane = make.Stream(options);
  std::vector<TileEvent> events;
  for (size_t i = 0; i < lane.size(); ++i) {
    events.push_back(
        {lane.start_ns[i], lane.duration_ns[i], static_cast<uint32_t>(make.Int(0, labels - 1))});
  }
  return events;
}

// Starts and durations of any size, on a coarse grid, with many equal ones.
std::vector<TileEvent> AdversarialEvents(LaneMaker& make, int64_t count, int64_t labels) {
  const int64_t grid = make.Log(20);
  const int64_t range = make.Log(10);
  const int longest = static_cast<int>(make.Int(0, 12));
  std::vector<TileEvent> events;
  for (int64_t i = 0; i < count; ++i) {
    TileEvent event = {make.Int(-range, range) * grid, make.OneIn(4) ? 0 : make.Log(longest) * grid,
                       static_cast<uint32_t>(make.Int(0, labels - 1))};
    if (make.OneIn(30)) event.duration_ns = make.OneIn(2) ? -make.Log(62) : make.Log(62);
    if (make.OneIn(200)) event.start_ns = make.OneIn(2) ? kFirst : kLast - make.Int(0, 2);
    if (make.OneIn(400)) event.duration_ns = kLast;
    events.push_back(event);
  }
  return events;
}

LaneCase MakeCase(LaneMaker& make) {
  LaneCase result;
  const int64_t labels = make.Log(7);
  result.labels = MakeLabels(make, labels);
  if (make.OneIn(2)) {
    result.events = AdversarialEvents(make, make.Int(1, make.OneIn(4) ? 1500 : 150), labels);
  } else {
    result.events = StreamEvents(make,
                                 {.events = static_cast<size_t>(make.Int(1, 900)),
                                  .instant_one_in = make.Int(0, 6),
                                  .overlap_one_in = make.Int(0, 10)},
                                 labels);
  }
  result.Seal(make);
  return result;
}

}  // namespace

TEST_CASE("columns of sealed and unsealed events are those of the brute-force oracle") {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    LaneMaker make(seed);
    const LaneCase lane = MakeCase(make);
    for (int i = 0; i < 25; ++i) {
      lane.CheckWindow(lane.AnyWindow(make),
                       static_cast<uint32_t>(make.Log(make.OneIn(4) ? 9 : 5)));
    }
  }
}

TEST_CASE("columns of rows with many pages are those of the brute-force oracle") {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    INFO("seed " << seed);
    LaneMaker make(1000 + seed);
    LaneCase lane;
    const int64_t labels = seed % 3 == 0 ? 700 : 40;
    lane.labels = MakeLabels(make, labels);
    lane.events = StreamEvents(make,
                               {.events = seed == 0 ? 150'000U : 20'000U,
                                .instant_one_in = seed % 2 == 0 ? 20 : 0,
                                .overlap_one_in = seed % 3 == 0 ? 0 : 30},
                               labels);
    if (seed == 5) {
      for (size_t i = 100; i < 15'000; ++i) {  // instants at the same times, over several groups
        lane.events[i].duration_ns = 0;
        lane.events[i].start_ns = lane.events[100 + (i - 100) / 3000].start_ns;
      }
    }
    lane.Seal(make);
    lane.CheckWindow(lane.extent, 1);
    lane.CheckWindow(lane.extent, 700);
    for (int i = 0; i < 40; ++i) {
      lane.CheckWindow(lane.AnyWindow(make), static_cast<uint32_t>(make.Log(8)));
    }
  }
}

TEST_CASE("zooming from everything to below a nanosecond loses nothing") {
  LaneMaker make(21);
  LaneCase lane;
  lane.labels = MakeLabels(make, 20);
  lane.events = StreamEvents(make, {.events = 6'000, .instant_one_in = 5, .overlap_one_in = 9}, 20);
  lane.Seal(make);
  const int64_t centre = lane.events[3'000].start_ns;
  for (int64_t span = lane.extent.span() + 2; span > 0; span = span * 2 / 3) {
    lane.CheckWindow({centre - span / 2, centre - span / 2 + span}, 61);
  }
}

TEST_CASE("a parent column says what its two children say together") {
  LaneMaker make(22);
  for (int round = 0; round < 200; ++round) {
    const LaneCase lane = MakeCase(make);
    const int64_t length = int64_t{64} << make.Int(0, 30);  // edges of both are the same
    const int64_t start = std::min(lane.AnyWindow(make).start_ns, kLast - length);
    const Window window = {start, start + length};
    const auto parents = lane.lane.Columns(window, 16, lane.labels);
    const auto children = lane.lane.Columns(window, 32, lane.labels);
    REQUIRE(parents.ok());
    REQUIRE(children.ok());
    for (size_t i = 0; i < 16; ++i) {
      const TileColumn& parent = (*parents)[i];
      const TileColumn& left = (*children)[2 * i];
      const TileColumn& right = (*children)[2 * i + 1];
      REQUIRE(parent.covered_ns == left.covered_ns + right.covered_ns);
      REQUIRE(parent.starts == left.starts + right.starts);
      REQUIRE(parent.present == (left.starts + right.starts > 0 || left.present));
      if (!parent.present) continue;
      // What runs at the right child's edge started in the parent, or runs at its edge too.
      REQUIRE(parent.longest_duration_ns ==
              std::max(left.longest_duration_ns, right.longest_duration_ns));
      if (left.present && right.present && left.dominant == right.dominant) {
        REQUIRE(parent.dominant == left.dominant);
      }
      if (left.present && right.present && left.dominant_name == right.dominant_name) {
        REQUIRE(parent.dominant_name == left.dominant_name);
      }
    }
  }
}

TEST_CASE("instants at one time are called by the lowest label of the query") {
  TestLane lane;
  std::vector<TileSpan> step;
  for (uint32_t i = 0; i < 9'000; ++i) step.push_back({100, 100, 9'000 - i});
  REQUIRE(lane.Seal(step).ok());
  const std::vector<Label> labels(9'001, Label{trace::Category::kNvtx, 5});
  const auto columns = lane.Columns({0, 1'000}, 4, labels);
  REQUIRE(columns.ok());
  CHECK((*columns)[0].longest_label == 1);
  CHECK((*columns)[0].starts == 9'000);
  CHECK((*columns)[0].dominant_name == 5);
  CHECK(!(*columns)[1].present);
}

TEST_CASE("instants never disappear at any zoom") {
  LaneMaker make(23);
  TestLane lane;
  std::vector<TileSpan> step;
  for (int i = 0; i < 50'000; ++i) step.push_back({make.Int(0, 1'000'000'000), 0, 0});
  for (TileSpan& span : step) span.end_ns = span.start_ns;
  REQUIRE(lane.Seal(step).ok());
  for (int64_t span = 1'000'000'001; span > 0; span /= 7) {
    const auto columns = lane.Columns({0, span}, 100, {{}});
    REQUIRE(columns.ok());
    uint64_t starts = 0;
    for (const TileColumn& column : *columns) {
      starts += column.starts;
      REQUIRE(column.present == (column.starts > 0));
    }
    REQUIRE(starts == static_cast<uint64_t>(std::count_if(
                          step.begin(), step.end(),
                          [&](const TileSpan& event) { return event.start_ns < span; })));
  }
}

TEST_CASE("an event over every column costs no step for each") {
  // A hundred thousand spans over 1,600 columns: minutes, if each took a step for each column.
  LaneMaker make(24);
  std::vector<TileSpan> spans;
  for (int64_t i = 0; i < 100'000; ++i) spans.push_back({i, 1'000'000'000 - i, 0});
  LaneTiles tiles({0, 1'000'000'000}, 1'600);
  tiles.AddSpans(spans);
  std::vector<TileColumn> columns(1'600);
  REQUIRE(tiles.Finish(std::vector<Label>(1), columns).ok());
  CHECK(columns[800].longest_start_ns == 0);
  CHECK(columns[800].longest_duration_ns == 1'000'000'000);
  CHECK(columns[800].covered_ns == 625'000);
}

TEST_CASE("a loose row that covers counts once, with what lies under it") {
  const std::vector<TileSpan> loose = {{0, 10, 0}, {5, 25, 0}};
  const std::vector<TileSpan> cover = {{8, 12, 0}, {30, 40, 0}};
  const RowBytes loose_row = BuildRow(loose, RowKind::kLoose);
  const RowBytes cover_row = BuildRow(cover, RowKind::kCover);
  MemoryRow loose_source(loose_row);
  MemoryRow cover_source(cover_row);
  const std::vector<uint32_t> labels = {0};
  LaneTiles tiles({0, 50}, 5);
  REQUIRE(tiles.AddRow(loose_row.root, loose_source, {true, true}, labels).ok());
  REQUIRE(tiles.AddRow(cover_row.root, cover_source, {false, true}, {}).ok());
  std::vector<TileColumn> columns(5);
  REQUIRE(tiles.Finish(std::vector<Label>(1), columns).ok());
  CHECK(columns[0].covered_ns == 10);
  CHECK(columns[1].covered_ns == 10);
  CHECK(columns[2].covered_ns == 5);
  CHECK(columns[3].covered_ns == 10);
  CHECK(!columns[3].present);  // coverage alone is no event
  CHECK(columns[4].covered_ns == 0);

  LaneTiles wrong({0, 50}, 5);
  REQUIRE(wrong.AddRow(cover_row.root, cover_source, {false, true}, {}).ok());
  CHECK(wrong.AddRow(loose_row.root, loose_source, {true, true}, labels).code() ==
        absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("an empty window, an empty lane and no columns say nothing") {
  LaneTiles empty({10, 10}, 3);
  const std::vector<TileSpan> spans = {{5, 15, 0}};
  empty.AddSpans(spans);
  std::vector<TileColumn> columns(3);
  REQUIRE(empty.Finish(std::vector<Label>(1), columns).ok());
  CHECK(columns == std::vector<TileColumn>(3));

  LaneTiles nothing({0, 10}, 3);
  REQUIRE(nothing.Finish({}, columns).ok());
  CHECK(columns == std::vector<TileColumn>(3));

  LaneTiles narrow({0, 10}, 0);
  narrow.AddSpans(spans);
  CHECK(narrow.Finish(std::vector<Label>(1), {}).ok());
}

TEST_CASE("a label beyond the query's is an invalid argument") {
  LaneTiles tiles({0, 10}, 1);
  const std::vector<TileSpan> spans = {{5, 15, 1}};
  tiles.AddSpans(spans);
  std::vector<TileColumn> columns(1);
  CHECK(tiles.Finish(std::vector<Label>(1), columns).code() == absl::StatusCode::kInvalidArgument);
}

}  // namespace nanolane::timeline
