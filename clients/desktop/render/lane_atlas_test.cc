#include "clients/desktop/render/lane_atlas.h"

#include <catch2/catch.hpp>
#include <random>

#include "clients/desktop/testing/session_builder.h"
#include "libs/timeline/lane_index_oracle.h"

namespace nanolane::desktop {
namespace {

using timeline::LaneOracle;
using timeline::PixelColumn;
using timeline::Window;

RowStyle TestStyle() {
  RowStyle style;
  for (size_t i = 0; i < style.category.size(); ++i) {
    style.category[i] = 0xFF000000U | static_cast<Rgba>(0x101010 + i * 0x070503);
  }
  style.leaf = 0xFF84DC3D;
  style.memory_line = 0xFFFFB34F;
  return style;
}

// The definition: a marker where anything is, opacity by covered share, the dominant colour.
void CheckAgainstOracle(const LaneAtlas& atlas, const LaneAtlas::Place& place,
                        const std::vector<PixelColumn>& columns, const Window& window,
                        const RowStyle& style) {
  const auto width = static_cast<uint32_t>(columns.size());
  size_t wrong = 0;
  for (uint32_t i = 0; i < width; ++i) {
    const Rgba leaf = atlas.TexelRow(place.first)[i];
    if (leaf != (columns[i].present ? style.leaf : 0)) ++wrong;
    const int64_t extent =
        timeline::ColumnEdge(window, width, i + 1) - timeline::ColumnEdge(window, width, i);
    const long double share = extent > 0 ? static_cast<long double>(columns[i].covered_ns) /
                                               static_cast<long double>(extent)
                                         : (columns[i].edge_covered ? 1.0L : 0.0L);
    const auto alpha = static_cast<uint32_t>(share * 255 + 0.5L);
    const Rgba color = style.category[static_cast<size_t>(columns[i].dominant)];
    const Rgba expected = alpha == 0 ? 0 : WithAlpha(color, alpha);
    if (atlas.TexelRow(place.first + 1)[i] != expected) ++wrong;
  }
  CHECK(wrong == 0);
}

class OneLane {
 public:
  explicit OneLane(size_t events) : OneLane(LargeSession(1, events)) {}
  explicit OneLane(const SessionBuilder& builder) {
    for (LoaderMessage& message : LoaderMessages(builder, 1'000)) {
      model.Apply(std::move(message));
    }
    const EventStore& store = lane().events;
    for (size_t i = 0; i < store.size(); ++i) {
      const int64_t start = store.start_ns(i);
      const int64_t duration = store.duration_ns(i);
      const trace::Category category = store.category(i);
      oracle.Append({{&start, 1}, {&duration, 1}, {&category, 1}});
    }
  }
  const LaneModel& lane() const { return *model.lanes()[0]; }

  TimelineModel model;
  LaneOracle oracle;
};

// Kernels of three families, some of no length, none of which overlap.
SessionBuilder Disjoint(size_t events) {
  SessionBuilder builder;
  const auto lane =
      builder.AddLane({.kind = trace::LaneKind::kStream, .gpu_index = 0, .stream = 7});
  const std::vector<trace::OpId> ops = {builder.AddKernel("sgemm"), builder.AddKernel("layer_norm"),
                                        builder.AddKernel("flash_attn")};
  std::mt19937_64 random(5);
  int64_t at = 0;
  for (size_t i = 0; i < events; ++i) {
    const int64_t duration = random() % 9 == 0 ? 0 : static_cast<int64_t>(random() % 20'000);
    builder.Add(lane, {.op = ops[random() % 3], .start_ns = at, .duration_ns = duration});
    at += duration + static_cast<int64_t>(random() % 3'000);
  }
  return builder;
}

const Row kStreamRow{.kind = RowKind::kStream, .lane = 0};

}  // namespace

TEST_CASE("both layers equal the oracle at random windows, widths and scales") {
  const OneLane one(20'000);
  const RowStyle style = TestStyle();
  std::mt19937_64 random(17);
  const int64_t end = one.lane().events.end_ns(one.lane().events.size() - 1);
  LaneAtlas atlas;
  for (int round = 0; round < 200; ++round) {
    const int64_t span = int64_t{1} << (random() % 28);
    const auto start = static_cast<int64_t>(random() % static_cast<uint64_t>(end)) - span / 3;
    const Window window{start, start + span + static_cast<int64_t>(random() % 1'000)};
    const auto width = static_cast<uint32_t>(round % 2 == 0 ? 1'432 : 1 + random() % 3'000);
    atlas.Begin(window, width, round % 3 == 0 ? 2 : 1, style);
    const LaneAtlas::Place place = atlas.Paint(one.lane(), kStreamRow, {}, {});
    REQUIRE(place.count == 2);
    CheckAgainstOracle(atlas, place, one.oracle.Columns(window, width), window, style);
  }
}

TEST_CASE("from an hour down to a nanosecond no column with an event reads empty") {
  const OneLane one(5'000);
  const RowStyle style = TestStyle();
  LaneAtlas atlas;
  const int64_t middle = one.lane().events.start_ns(2'500);
  for (int64_t span = 3'600'000'000'000; span >= 1; span = span * 3 / 5) {
    const Window window{middle - span / 2, middle - span / 2 + span};
    atlas.Begin(window, 1'432, 1, style);
    const LaneAtlas::Place place = atlas.Paint(one.lane(), kStreamRow, {}, {});
    CheckAgainstOracle(atlas, place, one.oracle.Columns(window, 1'432), window, style);
    if (span == 1) break;
  }
}

TEST_CASE("a row is painted again only when something has changed") {
  OneLane one(3'000);
  LaneAtlas atlas;
  const RowStyle style = TestStyle();
  atlas.Begin({0, 1'000'000}, 800, 1, style);
  atlas.Paint(one.lane(), kStreamRow, {}, {});
  atlas.Begin({0, 1'000'000}, 800, 1, style);
  atlas.Paint(one.lane(), kStreamRow, {}, {});
  CHECK(atlas.painted() == 1);
  atlas.Begin({1, 1'000'001}, 800, 1, style);
  atlas.Paint(one.lane(), kStreamRow, {}, {});
  CHECK(atlas.painted() == 2);
  RowStyle other = style;
  other.leaf = 0xFF000001;
  atlas.Begin({1, 1'000'001}, 800, 1, other);
  atlas.Paint(one.lane(), kStreamRow, {}, {});
  CHECK(atlas.painted() == 3);
}

TEST_CASE("what has changed is what is sent to the GPU") {
  OneLane one(3'000);
  LaneAtlas atlas;
  const RowStyle style = TestStyle();
  atlas.Begin({0, 1'000'000}, 800, 1, style);
  atlas.Paint(one.lane(), kStreamRow, {}, {});
  const auto all = atlas.TakeDirty();
  CHECK(all.first == 0);
  CHECK(all.second == atlas.height());
  const auto none = atlas.TakeDirty();
  CHECK(none.first == none.second);
  atlas.Begin({5, 1'000'005}, 800, 1, style);
  const LaneAtlas::Place place = atlas.Paint(one.lane(), kStreamRow, {}, {});
  const auto some = atlas.TakeDirty();
  CHECK(some.first == place.first);
  CHECK(some.second == place.first + 2);
}

TEST_CASE("the atlas grows with the rows and keeps them apart") {
  SessionBuilder builder = LargeSession(300, 600);
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(builder)) model.Apply(std::move(message));
  LaneAtlas atlas;
  atlas.Begin({0, 1'000'000}, 100, 1, TestStyle());
  std::vector<bool> used;
  for (size_t lane = 0; lane < 300; ++lane) {
    const LaneAtlas::Place place =
        atlas.Paint(*model.lanes()[lane], {.kind = RowKind::kStream, .lane = lane}, {}, {});
    used.resize(std::max<size_t>(used.size(), place.first + place.count), false);
    for (uint32_t row = place.first; row < place.first + place.count; ++row) {
      REQUIRE_FALSE(used[row]);
      used[row] = true;
    }
  }
  CHECK(atlas.height() >= 600);
}

TEST_CASE("rows without a leaf indicator keep an instant visible") {
  std::vector<PixelColumn> columns(3);
  columns[1].present = true;
  columns[1].starts = 1;
  columns[1].dominant = trace::Category::kSync;
  std::vector<Rgba> out(3, 1);
  PaintDensity(columns, {0, 300}, TestStyle(), {.least = 150, .full = 255}, out);
  CHECK(out[0] == 0);
  CHECK(out[1] >> kAlphaShift == 150);
  CHECK(out[2] == 0);
}

TEST_CASE("opacity is the covered share, rounded") {
  PixelColumn column;
  column.present = true;
  column.covered_ns = 1;
  CHECK(DensityAlpha(column, 2) == 128);
  column.covered_ns = 1'000'000'000'000'000'000;
  CHECK(DensityAlpha(column, 1'000'000'000'000'000'000) == 255);
  CHECK(DensityAlpha(column, 4'000'000'000'000'000'000) == 64);
}

TEST_CASE("a level is a line over an area, and unknown before its first point") {
  std::vector<timeline::LevelColumn> columns(3);
  columns[1] = {.known = true, .lowest = 50, .highest = 50, .last = 50};
  columns[2] = {.known = true, .lowest = 25, .highest = 100, .last = 25};
  std::vector<std::vector<Rgba>> texels(4, std::vector<Rgba>(3, 0));
  std::vector<std::span<Rgba>> rows(texels.begin(), texels.end());
  const RowStyle style = TestStyle();
  PaintLevels(columns, 100, 1, style, rows);
  const auto alpha = [&](size_t y, size_t x) { return texels[y][x] >> kAlphaShift; };
  for (size_t y = 0; y < 4; ++y) CHECK(alpha(y, 0) == 0);
  CHECK(alpha(0, 1) == 0);
  CHECK(alpha(2, 1) == 255);
  CHECK(alpha(3, 1) == style.memory_fill);
  CHECK(alpha(0, 2) == 255);
  CHECK(alpha(1, 2) == style.memory_range);
  CHECK(alpha(3, 2) == style.memory_fill);
}

TEST_CASE("a search leaves its hits in sight, in every column that holds one, and dims the rest") {
  const OneLane one(20'000);
  NameSearch search;
  search.SetPattern("layer_norm_kernel_17$");
  search.Update(one.model.names());
  REQUIRE(search.matching_names() == 1);
  SearchHits hits;
  while (!hits.Work(one.model, search, FrameSearch(), 777)) {
  }
  LaneOracle oracle;
  const EventStore& store = one.lane().events;
  for (size_t i = 0; i < store.size(); ++i) {
    if (!search.Matches(store.name(i))) continue;
    const int64_t start = store.start_ns(i);
    const int64_t duration = store.duration_ns(i);
    const trace::Category category = store.category(i);
    oracle.Append({{&start, 1}, {&duration, 1}, {&category, 1}});
  }
  const Window window{0, store.end_ns(store.size() - 1)};
  CHECK(hits.Count(window) == oracle.size());
  LaneAtlas atlas;
  atlas.Begin(window, 900, 1, TestStyle());
  const LaneAtlas::Place place = atlas.Paint(one.lane(), kStreamRow, hits, {});
  const auto columns = oracle.Columns(window, 900);
  size_t wrong = 0;
  for (uint32_t i = 0; i < 900; ++i) {
    const uint32_t alpha = atlas.TexelRow(place.first + 1)[i] >> kAlphaShift;
    if (columns[i].present ? alpha < 140 : alpha > 51) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("filtered pixels equal the oracle of what is shown, and the rest is a faint presence") {
  for (const bool overlaps : {false, true}) {
    const OneLane one(overlaps ? LargeSession(1, 5'000) : Disjoint(5'000));
    REQUIRE(one.lane().rows.disjoint() == !overlaps);
    const auto gemm = static_cast<unsigned>(trace::Category::kGemm);
    const auto norm = static_cast<unsigned>(trace::Category::kNormReduce);
    for (const EventFilter& filter :
         {EventFilter{.categories = 1U << norm}, EventFilter{.categories = ~(1U << gemm)},
          EventFilter{.least_ns = 4'000, .most_ns = 9'000}, EventFilter{.categories = 0}}) {
      FilteredLanes lanes;
      while (!lanes.Work(one.model, filter, 100'000)) {
      }
      const EventStore& store = one.lane().events;
      LaneOracle shown_oracle;
      LaneOracle all_oracle;
      for (size_t i = 0; i < store.size(); ++i) {
        const int64_t start = store.start_ns(i);
        const int64_t duration = store.duration_ns(i);
        const trace::Category category = store.category(i);
        all_oracle.Append({{&start, 1}, {&duration, 1}, {&category, 1}});
        const bool shown = filter.ShowsCategory(category) && filter.ShowsDuration(duration);
        if (shown) shown_oracle.Append({{&start, 1}, {&duration, 1}, {&category, 1}});
      }
      RowStyle style = TestStyle();
      style.hidden = 0xFF969696;
      const int64_t end = store.end_ns(store.size() - 1);
      for (const Window& window :
           {Window{0, end}, Window{end / 3, end / 3 + 200'000}, Window{end / 2, end / 2 + 300}}) {
        LaneAtlas atlas;
        atlas.Begin(window, 700, 1, style);
        const LaneAtlas::Place place = atlas.Paint(one.lane(), kStreamRow, {}, lanes);
        const auto shown = shown_oracle.Columns(window, 700);
        const auto all = all_oracle.Columns(window, 700);
        std::vector<Rgba> leaves(700);
        std::vector<Rgba> density(700);
        PaintLeaves(shown, style.leaf, leaves);
        PaintDensity(shown, window, style, {}, density);
        size_t wrong = 0;
        size_t hidden = 0;
        for (uint32_t i = 0; i < 700; ++i) {
          const Rgba leaf = atlas.TexelRow(place.first)[i];
          const Rgba dense = atlas.TexelRow(place.first + 1)[i];
          if (all[i].present && !shown[i].present) {
            ++hidden;
            // In sight, but much fainter than what is shown, and of no category's colour.
            const uint32_t alpha = dense >> kAlphaShift;
            wrong += alpha == 0 || alpha > 60 || (dense & kColorMask) != 0x969696 ? 1 : 0;
            wrong += leaf >> kAlphaShift == 0 || leaf >> kAlphaShift > 80 ? 1 : 0;
          } else {
            wrong += leaf != leaves[i] || dense != density[i] ? 1 : 0;
          }
        }
        CHECK(wrong == 0);
        if (filter.categories == 0 && window.start_ns == 0) CHECK(hidden > 0);
      }
    }
  }
}

TEST_CASE("the overview shows where data lies and where it does not") {
  TimelineModel model;
  for (LoaderMessage& message : LoaderMessages(SmallSession())) model.Apply(std::move(message));
  LaneAtlas atlas;
  atlas.Begin({0, 1}, 800, 1, TestStyle());
  const Window window{1'000'000'000, 1'080'000'000};  // 100 µs per column
  const LaneAtlas::Place place = atlas.PaintOverview(model, window, 30);
  const auto bottom = atlas.TexelRow(place.first + 29);
  CHECK(bottom[6] != 0);   // the first kernels
  CHECK(bottom[90] == 0);  // between two steps
}

}  // namespace nanolane::desktop
