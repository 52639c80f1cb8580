#include "clients/desktop/model/tile_frames.h"

#include <algorithm>
#include <random>

#include "catch2/catch.hpp"
#include "libs/timeline/lane_index.h"

namespace nanolane::desktop {
namespace {

using timeline::PixelColumn;
using timeline::Window;

constexpr int64_t kEnd = 1'000'000;

// Spans and instants, crowded in places.
struct Lane {
  timeline::LaneIndex index;
  std::vector<int64_t> starts;
  std::vector<int64_t> durations;

  explicit Lane(uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<trace::Category> categories;
    for (int i = 0; i < 3'000; ++i) {
      const auto middle = static_cast<int64_t>(random() % 20) * (kEnd / 20);
      starts.push_back(middle + static_cast<int64_t>(random() % 9'000));
      durations.push_back(static_cast<int64_t>(random() % 4 == 0 ? 0 : random() % 60));
      categories.push_back(static_cast<trace::Category>(random() % 4));
    }
    index.Append({starts, durations, categories});
  }

  std::shared_ptr<TileFrame> Frame(const Window& window, uint32_t width) const {
    auto frame = std::make_shared<TileFrame>();
    frame->window = window;
    frame->width = width;
    TileLane& lane = frame->lanes[1];
    lane.spans.resize(width);
    lane.dominant_name.resize(width);
    lane.longest.resize(width);
    index.Columns(window, lane.spans);
    return frame;
  }
};

}  // namespace

TEST_CASE("an exact frame is given as it came") {
  const Lane lane(1);
  TileFrames frames;
  const Window window{1'000, 900'000};
  std::vector<PixelColumn> columns(500);
  CHECK(frames.Spans(1, window, columns) == TileFrames::Answer::kNone);
  CHECK_FALSE(columns[0].present);
  const auto frame = lane.Frame(window, 500);
  frames.Add(frame);
  CHECK(frames.Spans(1, window, columns) == TileFrames::Answer::kExact);
  CHECK(columns == frame->lanes.at(1).spans);
  CHECK(frames.Spans(2, window, columns) == TileFrames::Answer::kNone);
  CHECK(frames.Missing({window, 500, {1, 2}}) == std::vector<trace::LaneId>{2});
  CHECK(frames.Missing({window, 499, {1}}) == std::vector<trace::LaneId>{1});
}

TEST_CASE("no event vanishes while another window's columns stand in, at any zoom and pan") {
  const Lane lane(2);
  std::mt19937_64 random(7);
  TileFrames frames;
  frames.Add(lane.Frame({-50'000, kEnd + 50'000}, 400));
  for (int round = 0; round < 2'000; ++round) {
    const uint64_t most = static_cast<uint64_t>(kEnd) >> random() % 16;
    const auto span = static_cast<int64_t>(1 + random() % most);
    const auto start = static_cast<int64_t>(random() % kEnd);
    const Window window{start, start + span};
    const uint32_t width = 1 + static_cast<uint32_t>(random() % 700);
    std::vector<PixelColumn> columns(width);
    const auto answer = frames.Spans(1, window, columns);
    CHECK(answer != TileFrames::Answer::kNone);
    std::vector<PixelColumn> exact(width);
    lane.index.Columns(window, exact);
    size_t missed = 0;
    for (uint32_t i = 0; i < width; ++i) missed += exact[i].present && !columns[i].present;
    CAPTURE(start, span, width);
    REQUIRE(missed == 0);
    for (uint32_t i = 0; i < width; ++i) {
      const int64_t extent =
          timeline::ColumnEdge(window, width, i + 1) - timeline::ColumnEdge(window, width, i);
      REQUIRE(columns[i].covered_ns >= 0);
      REQUIRE(columns[i].covered_ns <= extent);
    }
    // As a viewer would: some of the answers come.
    if (round % 3 == 0) frames.Add(lane.Frame(window, width));
  }
}

TEST_CASE("folded columns cover as much as the finer ones did") {
  const Lane lane(3);
  TileFrames frames;
  const Window whole{0, kEnd + 10'000};
  frames.Add(lane.Frame(whole, 2'000));
  std::vector<PixelColumn> columns(100);
  CHECK(frames.Spans(1, whole, columns) == TileFrames::Answer::kStretched);
  std::vector<PixelColumn> exact(100);
  lane.index.Columns(whole, exact);
  // 2,000 columns make 100 without a rest: nothing is cut.
  for (size_t i = 0; i < 100; ++i) {
    CHECK(std::abs(columns[i].covered_ns - exact[i].covered_ns) <= 1);
    CHECK(columns[i].starts == exact[i].starts);
  }
}

TEST_CASE("the finest columns that hold a window stand in for it, and the widest are kept") {
  const Lane lane(4);
  TileFrames frames;
  const Window whole{0, kEnd};
  frames.Add(lane.Frame(whole, 100));
  const Window inner{200'000, 300'000};
  frames.Add(lane.Frame(inner, 1'000));
  std::vector<PixelColumn> columns(50);
  const Window part{210'000, 215'000};
  CHECK(frames.Spans(1, part, columns) == TileFrames::Answer::kStretched);
  std::vector<PixelColumn> exact(50);
  lane.index.Columns(part, exact);
  for (size_t i = 0; i < 50; ++i) CHECK(columns[i].present == exact[i].present);
  for (size_t i = 0; i < 2 * TileFrames::kMostFrames; ++i) {
    const auto start = static_cast<int64_t>(500'000 + i);
    frames.Add(lane.Frame({start, start + 10}, 10));
  }
  CHECK(frames.Spans(1, whole, std::span(columns)) == TileFrames::Answer::kStretched);
  CHECK(std::any_of(columns.begin(), columns.end(), [](const auto& c) { return c.present; }));
}

TEST_CASE("further lanes of a window join its frame, names and all") {
  TileFrames frames;
  const Window window{0, 10};
  const auto frame_of = [&](trace::LaneId id, const char* name) {
    auto frame = std::make_shared<TileFrame>();
    frame->window = window;
    frame->width = 1;
    frame->names = {"unused", name};
    TileLane& lane = frame->lanes[id];
    lane.spans = {{.covered_ns = 4, .starts = 1, .present = true}};
    lane.dominant_name = {2};
    lane.longest = {{.start_ns = 3, .duration_ns = 4, .name = 2}};
    return frame;
  };
  frames.Add(frame_of(1, "gemm"));
  const uint64_t before = frames.version();
  frames.Add(frame_of(2, "softmax"));
  CHECK(frames.version() > before);
  CHECK(frames.Missing({window, 1, {1, 2}}).empty());
  CHECK(frames.At(1, window, 1, 0)->dominant_name == "gemm");
  CHECK(frames.At(2, window, 1, 0)->longest_name == "softmax");
  CHECK(frames.At(2, window, 1, 0)->longest.start_ns == 3);
  CHECK_FALSE(frames.At(2, window, 1, 1).has_value());
  CHECK_FALSE(frames.At(2, {0, 11}, 1, 0).has_value());
}

TEST_CASE("memory levels are stretched, and their highest is known") {
  TileFrames frames;
  auto frame = std::make_shared<TileFrame>();
  frame->window = {0, 40};
  frame->width = 4;
  frame->lanes[5].levels = {{.known = false},
                            {.known = true, .lowest = 1, .highest = 9, .last = 2, .changes = 3},
                            {.known = true, .lowest = 2, .highest = 4, .last = 3},
                            {.known = true, .lowest = 3, .highest = 3, .last = 3}};
  frames.Add(frame);
  CHECK(frames.HighestLevel(5) == 9);
  CHECK(frames.HighestLevel(6) == 0);
  std::vector<timeline::LevelColumn> levels(2);
  CHECK(frames.Levels(5, {0, 40}, levels) == TileFrames::Answer::kStretched);
  CHECK(levels[0].known);
  CHECK(levels[0].lowest == 1);
  CHECK(levels[0].highest == 9);
  CHECK(levels[1].lowest == 2);
  CHECK(levels[1].last == 3);
}

}  // namespace nanolane::desktop
