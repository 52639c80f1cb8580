#include "clients/desktop/model/timeline_model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "clients/desktop/model/event_facts.h"
#include "clients/desktop/model/opening_view.h"
#include "clients/desktop/model/row_layout.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/model/wide_spans.h"
#include "clients/desktop/testing/model_digest.h"
#include "clients/desktop/testing/session_builder.h"

namespace nanolane::desktop {
namespace {

using timeline::Window;
using trace::LaneKind;

void Feed(TimelineModel& model, const SessionBuilder& builder, size_t block_events = 4'096) {
  for (LoaderMessage& message : LoaderMessages(builder, block_events)) {
    model.Apply(std::move(message));
  }
}

size_t LaneOf(const TimelineModel& model, LaneKind kind, int64_t stream = -1) {
  for (size_t i = 0; i < model.lanes().size(); ++i) {
    const trace::Lane& lane = model.lanes()[i]->facts.lane;
    if (lane.kind == kind && (stream < 0 || lane.stream == stream)) return i;
  }
  FAIL("no such lane");
  return 0;
}

std::vector<WideSpan> WideSpansOf(const LaneModel& lane, const Window& window, uint32_t width,
                                  double least_pixels, uint32_t scale = 1) {
  std::vector<timeline::PixelColumn> columns(width * scale);
  lane.rows.Columns(0, window, columns);
  return FindWideSpans(lane, 0, window, width, least_pixels, columns);
}

std::vector<std::string> RowLabels(const RowLayout& layout) {
  std::vector<std::string> labels;
  for (const Row& row : layout.rows()) labels.push_back(row.label);
  return labels;
}

std::string ValueOf(const std::vector<Fact>& facts, const std::string& key) {
  for (const Fact& fact : facts) {
    if (fact.key == key) return fact.value;
  }
  return "";
}

}  // namespace

TEST_CASE("a loaded session holds every event that was announced") {
  TimelineModel model;
  const SessionBuilder builder = SmallSession();
  Feed(model, builder, 7);
  REQUIRE(model.phase() == TimelineModel::Phase::kComplete);
  CHECK(model.received_events() == builder.events());
  CHECK(model.expected_events() == builder.events());
  CHECK(model.origin_ns() == 1'000'000'000);
}

TEST_CASE("single events come back with every column") {
  TimelineModel model;
  Feed(model, SmallSession(), 11);
  const LaneModel& lane = *model.lanes()[LaneOf(model, LaneKind::kStream, 7)];
  const auto full = lane.events.At(43);
  REQUIRE(full.ok());
  CHECK(full->event.start_ns == lane.events.start_ns(43));
  CHECK(full->event.launch_start_ns == full->event.start_ns - 8'104);
  CHECK(full->event.correlation == 204);
  CHECK_FALSE(lane.events.At(lane.events.size()).ok());
}

TEST_CASE("a block of an unknown lane ends the load and keeps what was there") {
  TimelineModel model;
  std::vector<LoaderMessage> messages = LoaderMessages(SmallSession());
  messages.pop_back();
  for (const LoaderMessage& message : messages) model.Apply(message);
  const uint64_t received = model.received_events();
  BlockArrived stray = std::get<BlockArrived>(messages.back());
  stray.lane = 99;
  model.Apply(stray);
  CHECK(model.phase() == TimelineModel::Phase::kFailed);
  CHECK(absl::IsDataLoss(model.status()));
  CHECK(model.received_events() == received);
}

TEST_CASE("a block whose ops were not sent ends the load") {
  TimelineModel model;
  std::vector<LoaderMessage> messages = LoaderMessages(SmallSession());
  model.Apply(messages[0]);
  model.Apply(messages[2]);
  CHECK(model.phase() == TimelineModel::Phase::kFailed);
}

TEST_CASE("an end with an error keeps what was loaded and says why") {
  TimelineModel model;
  std::vector<LoaderMessage> messages = LoaderMessages(SmallSession());
  for (size_t i = 0; i < 4; ++i) model.Apply(messages[i]);
  model.Apply(StreamEnded{absl::UnavailableError("gone")});
  CHECK(model.phase() == TimelineModel::Phase::kFailed);
  CHECK(model.status().message() == "gone");
  CHECK(model.received_events() > 0);
}

TEST_CASE("rows stand under their GPU: ranges, streams with their waits, memory") {
  TimelineModel model;
  Feed(model, SmallSession());
  RowLayout layout;
  layout.Update(model);
  CHECK(RowLabels(layout) == std::vector<std::string>{"python3 · 4121", "NVTX", "", "Stream 7",
                                                      "Stream 7 (sync)", "Stream 14",
                                                      "GPU memory"});
  CHECK(layout.rows()[0].detail == "GPU 0 NVIDIA H200");
  CHECK(layout.rows()[2].depth == 1);
  CHECK_FALSE(layout.rows()[1].ends_lane);
}

TEST_CASE("rows follow each other without gaps and are found by their place") {
  TimelineModel model;
  Feed(model, SmallSession());
  RowLayout layout;
  layout.Update(model);
  double y = 0;
  for (size_t i = 0; i < layout.rows().size(); ++i) {
    CHECK(layout.rows()[i].y == y);
    CHECK(layout.RowAt(y) == i);
    y += layout.rows()[i].height;
    CHECK(layout.RowAt(y - 0.5) == i);
  }
  CHECK(layout.rows_height() == y);
  CHECK_FALSE(layout.RowAt(y).has_value());
  CHECK_FALSE(layout.RowAt(-1).has_value());
}

TEST_CASE("a collapsed group keeps its header alone") {
  TimelineModel model;
  Feed(model, SmallSession());
  RowLayout layout;
  layout.Update(model);
  LaneArrangement arrangement;
  const std::string group = layout.rows()[0].group;
  arrangement.ToggleGroup(group);
  layout.Update(model, {.arrangement = &arrangement});
  CHECK(layout.rows().size() == 1);
  CHECK(layout.rows()[0].collapsed);
  arrangement.ToggleGroup(group);
  layout.Update(model, {.arrangement = &arrangement});
  CHECK(layout.rows().size() == 7);
}

TEST_CASE("threads have a header of their own beside several GPUs, lanes without events none") {
  SessionBuilder builder;
  const trace::OpId op = builder.AddKernel("k");
  for (int32_t gpu = 0; gpu < 2; ++gpu) {
    const auto lane = builder.AddLane({.kind = LaneKind::kStream, .gpu_index = gpu, .stream = 7});
    builder.Add(lane, {.op = op, .start_ns = 10, .duration_ns = 5});
  }
  builder.Add(builder.AddLane({.kind = LaneKind::kNvtxThread, .thread = 9}),
              {.op = op, .start_ns = 1});
  builder.AddLane({.kind = LaneKind::kStream, .gpu_index = 1, .stream = 20});
  TimelineModel model;
  Feed(model, builder);
  RowLayout layout;
  layout.Update(model);
  std::vector<std::string> details;
  for (const Row& row : layout.rows()) {
    if (row.kind == RowKind::kHeader) details.push_back(row.detail);
  }
  CHECK(details == std::vector<std::string>{"threads", "GPU 0", "GPU 1"});
  CHECK(layout.rows().size() == 6);
}

TEST_CASE("nested ranges lie in rows of their own, and are found there") {
  TimelineModel model;
  Feed(model, SmallSession(), 1);
  const LaneModel& lane = *model.lanes()[LaneOf(model, LaneKind::kNvtxThread)];
  REQUIRE(lane.rows.depth() == 2);
  const int64_t inside = 1'000'000'000 + 1'000'000;
  const auto outer = lane.rows.EventAt(0, inside, 0);
  const auto inner = lane.rows.EventAt(1, inside, 0);
  REQUIRE(outer.has_value());
  REQUIRE(inner.has_value());
  CHECK(model.names().Full(lane.events.name(*outer)) == "step 0");
  CHECK(model.names().Full(lane.events.name(*inner)) == "forward");
  CHECK(lane.rows.DepthOf(*outer) == 0);
  CHECK(lane.rows.DepthOf(*inner) == 1);
}

TEST_CASE("a memory lane knows what is held and what is reserved") {
  TimelineModel model;
  Feed(model, SmallSession());
  const LaneRows& rows = model.lanes()[LaneOf(model, LaneKind::kMemoryFramework)]->rows;
  CHECK_FALSE(rows.LevelAt(1'000'000'000).has_value());
  const auto level = rows.LevelAt(1'000'100'000);
  REQUIRE(level.has_value());
  CHECK(level->held == (4LL << 30) + (64LL << 20));
  CHECK(level->reserved == 8LL << 30);
}

TEST_CASE("the facts of a kernel are exact") {
  TimelineModel model;
  Feed(model, SmallSession());
  const size_t lane = LaneOf(model, LaneKind::kStream, 7);
  const auto facts = FactsOf(model, {lane, 0});
  REQUIRE(facts.ok());
  CHECK(facts->name == "ampere_sgemm_128x64_tn");
  CHECK(ValueOf(facts->when, "duration") == "250.000 µs");
  CHECK(ValueOf(facts->when, "start") == "+600.000 µs");
  CHECK(ValueOf(facts->when, "launched") == "8.104 µs before");
  CHECK(ValueOf(facts->shape, "grid") == "32 × 96 × 1");
  CHECK(ValueOf(facts->shape, "shared") == "24.6 KB");
  CHECK(ValueOf(facts->shape, "registers") == "122");
}

TEST_CASE("the facts of a copy say bytes, rate and memories") {
  TimelineModel model;
  Feed(model, SmallSession());
  const auto facts = FactsOf(model, {LaneOf(model, LaneKind::kStream, 14), 0});
  REQUIRE(facts.ok());
  CHECK(ValueOf(facts->shape, "bytes") == "1.05 MB");
  CHECK(ValueOf(facts->shape, "rate") == "2.62 GB/s");
  CHECK(ValueOf(facts->shape, "from") == "pageable");
  CHECK(ValueOf(facts->shape, "to") == "device");
}

TEST_CASE("a stack names its frames from the outermost in") {
  SessionBuilder builder;
  trace::DictionaryBuilder& dictionary = builder.dictionary();
  const trace::FrameId outer = dictionary.Intern(trace::Frame{dictionary.Intern("embed.py"), 83});
  dictionary.SetSymbol(outer, {.function = dictionary.Intern("main"),
                               .file = dictionary.Intern("/srv/app/embed.py"),
                               .line = 83,
                               .language = trace::Language::kPython});
  const trace::FrameId inner =
      dictionary.Intern(trace::Frame{dictionary.Intern("libcudart.so"), 0x1F0});
  const trace::StackId root = dictionary.Intern(trace::StackNode{0, outer});
  const trace::StackId leaf = dictionary.Intern(trace::StackNode{root, inner});
  const auto lane = builder.AddLane({.kind = LaneKind::kStream, .gpu_index = 0, .stream = 7});
  builder.Add(lane, {.op = builder.AddKernel("k"), .start_ns = 5, .duration_ns = 1, .stack = leaf});
  TimelineModel model;
  Feed(model, builder);
  const auto facts = FactsOf(model, {0, 0});
  REQUIRE(facts.ok());
  REQUIRE(facts->stack.size() == 2);
  CHECK(facts->stack[0].function == "main");
  CHECK(facts->stack[0].place == "embed.py:83");
  CHECK(facts->stack[1].function == "libcudart.so");
  CHECK(facts->stack[1].place == "+0x1f0");
  CHECK(facts->languages == "python");
}

TEST_CASE("the opening view is everything with a little room") {
  TimelineModel model;
  Feed(model, SmallSession());
  const Window window = UsefulWindow(model);
  CHECK(window.start_ns < 1'000'000'000);
  CHECK(window.start_ns > 990'000'000);
  CHECK(window.end_ns > 1'078'000'000);
  CHECK(window.end_ns < 1'085'000'000);
}

TEST_CASE("a stray event does not spoil the opening view") {
  SessionBuilder builder;
  const trace::OpId op = builder.AddKernel("k");
  const auto lane = builder.AddLane({.kind = LaneKind::kStream, .gpu_index = 0, .stream = 7});
  constexpr int64_t kEpoch = 1'670'000'000'000'000'000;
  builder.Add(lane, {.op = op, .start_ns = 0, .duration_ns = 1'000});
  for (int64_t i = 0; i < 100; ++i) {
    builder.Add(lane, {.op = op, .start_ns = kEpoch + i * 1'000'000, .duration_ns = 500'000});
  }
  TimelineModel model;
  Feed(model, builder);
  const Window window = UsefulWindow(model);
  CHECK(window.start_ns > kEpoch - 10'000'000);
  CHECK(window.start_ns <= kEpoch);
  CHECK(window.end_ns >= kEpoch + 99'500'000);
  CHECK(window.end_ns < kEpoch + 110'000'000);
}

TEST_CASE("an empty session has a window all the same") {
  TimelineModel model;
  Feed(model, SessionBuilder());
  CHECK(model.phase() == TimelineModel::Phase::kComplete);
  const Window window = UsefulWindow(model);
  CHECK(window.end_ns > window.start_ns);
}

TEST_CASE("wide spans are found whole, cut to the window, and narrow ones are not") {
  TimelineModel model;
  Feed(model, SmallSession());
  const LaneModel& lane = *model.lanes()[LaneOf(model, LaneKind::kStream, 7)];
  const Window window{1'000'700'000, 1'001'700'000};  // a microsecond per pixel
  const auto spans = WideSpansOf(lane, window, 1'000, 20);
  REQUIRE(spans.size() == 4);
  CHECK(spans[0].x0 == 0);
  CHECK(spans[0].x1 == Approx(150));
  CHECK_FALSE(spans[0].starts_inside);
  CHECK(spans[1].x0 == Approx(200));
  CHECK(spans[3].x0 == Approx(800));
  CHECK(spans[3].x1 - spans[3].x0 == Approx(90));
  CHECK(WideSpansOf(lane, window, 1'000, 100).size() == 3);
}

TEST_CASE("blocks in any order give the same model as in order of time") {
  const SessionBuilder builder = LargeSession(3, 6'000);
  TimelineModel in_order;
  Feed(in_order, builder, 100);
  const std::vector<std::string> expected = DigestOf(in_order);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    std::vector<LoaderMessage> messages = LoaderMessages(builder, 100);
    std::shuffle(messages.begin() + 2, messages.end() - 1, std::mt19937_64(seed));
    TimelineModel model;
    for (LoaderMessage& message : messages) model.Apply(std::move(message));
    CHECK(DigestOf(model) == expected);
  }
}

TEST_CASE("a lane that comes late gets its row, and events of an earlier writer keep their names") {
  TimelineModel model;
  std::vector<LoaderMessage> messages = LoaderMessages(SmallSession());
  messages.pop_back();
  std::get<StreamOpened>(messages[0]).live = true;
  for (const LoaderMessage& message : messages) model.Apply(message);
  model.Apply(StepEnded{.session = std::nullopt, .caught_up = true});
  REQUIRE(model.phase() == TimelineModel::Phase::kLive);
  RowLayout layout;
  layout.Update(model);
  const size_t rows = layout.rows().size();

  SessionBuilder second;
  const trace::LaneId lane =
      second.AddLane({.kind = LaneKind::kStream, .gpu_index = 0, .context = 1, .stream = 99});
  second.Add(lane, {.op = second.AddKernel("late"), .start_ns = 1'000'000'000, .duration_ns = 9});
  std::vector<LoaderMessage> late = LoaderMessages(second);
  LaneFacts facts = std::get<StreamOpened>(late[0]).lanes[0];
  facts.id = 40;
  model.Apply(LanesGrew{{facts}});
  auto entries = std::get<DictionaryEntries>(late[1]);
  entries.epoch = 2;
  model.Apply(entries);
  auto block = std::get<BlockArrived>(late[2]);
  block.lane = 40;
  block.epoch = 2;
  model.Apply(block);
  CHECK(model.phase() == TimelineModel::Phase::kLive);
  layout.Update(model);
  CHECK(layout.rows().size() == rows + 1);
  CHECK(FactsOf(model, {LaneOf(model, LaneKind::kStream, 99), 0})->full_name == "late");
  CHECK(FactsOf(model, {LaneOf(model, LaneKind::kStream, 7), 0})->full_name ==
        "ampere_sgemm_128x64_tn");
}

TEST_CASE("versions of models of different generations are never equal") {
  TimelineModel first(1);
  TimelineModel second(2);
  Feed(first, LargeSession(2, 20'000), 10);
  Feed(second, SmallSession());
  CHECK(first.version() < second.version());
  CHECK(first.shape_version() < second.shape_version());
  CHECK(first.lanes()[0]->version < second.lanes()[0]->version);
}

TEST_CASE("every span that is wide enough and alone is found, at random windows") {
  SessionBuilder builder = LargeSession(1, 20'000);
  TimelineModel model;
  Feed(model, builder);
  const LaneModel& lane = *model.lanes()[0];
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    const auto start = static_cast<int64_t>(random() % 100'000'000);
    const Window window{start, start + 20'000 + static_cast<int64_t>(random() % 2'000'000)};
    const auto found = WideSpansOf(lane, window, 1'400, 5, round % 2 == 0 ? 1 : 2);
    size_t wide = 0;
    for (size_t i = 0; i < lane.events.size(); ++i) {
      const double x0 = PixelOf(window, 1'400, lane.events.start_ns(i));
      const double x1 = PixelOf(window, 1'400, lane.events.end_ns(i));
      if (x1 - x0 < 5.5 || x1 < 6 || x0 > 1'394) continue;
      const auto begins_inside = [&](size_t other) {
        return other != i && other < lane.events.size() &&
               lane.events.start_ns(other) >= lane.events.start_ns(i) &&
               lane.events.start_ns(other) < lane.events.end_ns(i);
      };
      if (begins_inside(i - 1) || begins_inside(i + 1) || begins_inside(i + 2)) continue;
      ++wide;
      CHECK(std::any_of(found.begin(), found.end(),
                        [i](const WideSpan& span) { return span.event == i; }));
    }
    CHECK(found.size() >= wide);
  }
}

}  // namespace nanolane::desktop
