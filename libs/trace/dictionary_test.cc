#include "libs/trace/dictionary.h"

#include <catch2/catch.hpp>
#include <random>

namespace nanolane::trace {
namespace {

TEST_CASE("equal values get one id, different ones different ids") {
  DictionaryBuilder builder;
  const StringId gemm = builder.Intern("gemm");
  CHECK(builder.Intern("gemm") == gemm);
  CHECK(builder.Intern("add") != gemm);
  CHECK(builder.Intern("") == 0);
  const OpId op = builder.Intern(Op{.kind = EventKind::kKernel, .name = gemm, .grid = {1, 2, 3}});
  CHECK(builder.Intern(Op{.kind = EventKind::kKernel, .name = gemm, .grid = {1, 2, 3}}) == op);
  CHECK(builder.Intern(Op{.kind = EventKind::kKernel, .name = gemm, .grid = {1, 2, 4}}) != op);
  const LaneId lane = builder.Intern(Lane{.kind = LaneKind::kStream, .stream = 7});
  CHECK(builder.Intern(Lane{.kind = LaneKind::kStream, .stream = 7}) == lane);
  CHECK(builder.Intern(Lane{.kind = LaneKind::kStreamSync, .stream = 7}) != lane);
}

TEST_CASE("a stack reads outermost first") {
  DictionaryBuilder builder;
  const FrameId main = builder.Intern(Frame{.module = builder.Intern("main.py"), .offset = 1});
  const FrameId layer = builder.Intern(Frame{.module = builder.Intern("layer.py"), .offset = 2});
  const StackId outer = builder.Intern(StackNode{.parent = 0, .frame = main});
  const StackId inner = builder.Intern(StackNode{.parent = outer, .frame = layer});
  CHECK(builder.tables().Frames(inner) == std::vector<FrameId>{main, layer});
  CHECK(builder.tables().Frames(0).empty());
  CHECK(builder.tables().Frames(999).empty());
}

TEST_CASE("deltas carry every entry once and rebuild the tables") {
  std::mt19937 random(3);
  DictionaryBuilder builder;
  Dictionary reader;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 20; ++i) {
      const StringId name = builder.Intern(std::to_string(random() % 300));
      const FrameId frame = builder.Intern(Frame{.module = name, .offset = random() % 4});
      builder.SetSymbol(frame, {.function = name, .line = static_cast<uint32_t>(random() % 9)});
      const auto parent = static_cast<StackId>(random() % (builder.tables().stack_count() + 1));
      builder.Intern(StackNode{.parent = parent, .frame = frame});
      builder.Intern(Op{.kind = EventKind::kKernel, .name = name});
      builder.Intern(
          Lane{.kind = LaneKind::kStream, .stream = static_cast<int64_t>(random() % 30)});
    }
    const DictionaryDelta delta = builder.TakeDelta();
    REQUIRE(reader.Apply(delta).ok());
    REQUIRE(reader.Apply(delta).ok());  // again: nothing changes
  }
  const Dictionary& written = builder.tables();
  REQUIRE(reader.string_count() == written.string_count());
  REQUIRE(reader.stack_count() == written.stack_count());
  for (OpId id = 1; id <= written.op_count(); ++id) CHECK(reader.OpOf(id) == written.OpOf(id));
  for (StackId id = 1; id <= written.stack_count(); ++id)
    CHECK(reader.Stack(id) == written.Stack(id));
  for (FrameId id = 1; id <= written.frame_count(); ++id) {
    CHECK(reader.FrameOf(id) == written.FrameOf(id));
    CHECK(reader.SymbolOf(id) == written.SymbolOf(id));
  }
  CHECK(reader.lanes() == written.lanes());
  CHECK(builder.TakeDelta().empty());
}

TEST_CASE("what an op and a stack need is enough to read them") {
  std::mt19937 random(11);
  DictionaryBuilder builder;
  struct Wanted {
    OpId op;
    StackId stack;
    DictionaryNeeds needs;
  };
  std::vector<Wanted> wanted;
  for (int i = 0; i < 200; ++i) {
    const StringId name = builder.Intern(std::to_string(random() % 100));
    const OpId op = builder.Intern(Op{.kind = EventKind::kKernel, .name = name});
    const FrameId frame = builder.Intern(Frame{.module = name, .offset = random() % 50});
    builder.SetSymbol(frame, {.function = builder.Intern(std::to_string(random() % 500))});
    const StackId stack = builder.Intern(
        StackNode{.parent = static_cast<StackId>(random() % (builder.tables().stack_count() + 1)),
                  .frame = frame});
    wanted.push_back({op, stack, builder.NeedsOf(op, stack)});
  }
  for (const Wanted& want : wanted) {
    CHECK(builder.tables().OpOf(want.op).name <= want.needs.strings);
    for (const FrameId frame : builder.tables().Frames(want.stack)) {
      CHECK(frame <= want.needs.frames);
      CHECK(builder.tables().FrameOf(frame).module <= want.needs.strings);
    }
  }
}

TEST_CASE("a late symbol raises what older frames need") {
  DictionaryBuilder builder;
  const FrameId first = builder.Intern(Frame{.module = builder.Intern("a"), .offset = 1});
  const StackId stack = builder.Intern(StackNode{.parent = 0, .frame = first});
  builder.Intern(Frame{.module = builder.Intern("b"), .offset = 1});
  const StringId late = builder.Intern("late");
  builder.SetSymbol(first, {.function = late});
  CHECK(builder.NeedsOf(0, stack).strings == late);
}

TEST_CASE("a bad delta is refused whole") {
  Dictionary dictionary;
  DictionaryDelta delta;
  delta.strings = {"x"};
  SECTION("a gap in the ids") { delta.first_string = 5; }
  SECTION("the id 0") { delta.first_string = 0; }
  SECTION("a frame with an unknown string") { delta.frames = {{.module = 2, .offset = 0}}; }
  SECTION("a stack that is its own parent") {
    delta.frames = {{.module = 1, .offset = 0}};
    delta.stacks = {{.parent = 1, .frame = 1}};
  }
  SECTION("a stack without a frame") { delta.stacks = {{.parent = 0, .frame = 1}}; }
  SECTION("an op with an unknown name") { delta.ops = {Op{.name = 9}}; }
  SECTION("a symbol of an unknown frame") { delta.symbols = {{.frame = 1, .symbol = {}}}; }
  SECTION("a lane with the id 0") { delta.lanes = {{.id = 0, .lane = {}}}; }
  SECTION("a string that is too long") { delta.strings = {std::string(kMaxStringBytes + 1, 'x')}; }
  CHECK(dictionary.Apply(delta).code() == absl::StatusCode::kInvalidArgument);
  CHECK(dictionary.string_count() == 0);
}

TEST_CASE("a lane id cannot change its meaning") {
  Dictionary dictionary;
  DictionaryDelta delta;
  delta.lanes = {{.id = 1, .lane = {.kind = LaneKind::kStream, .stream = 7}}};
  REQUIRE(dictionary.Apply(delta).ok());
  REQUIRE(dictionary.Apply(delta).ok());
  delta.lanes[0].lane.stream = 8;
  CHECK_FALSE(dictionary.Apply(delta).ok());
}

TEST_CASE("lanes have labels that people know") {
  CHECK(LaneLabel({.kind = LaneKind::kStream, .stream = 7}) == "Stream 7");
  CHECK(LaneLabel({.kind = LaneKind::kStreamSync, .stream = 7}) == "Stream 7 (sync)");
  CHECK(LaneLabel({.kind = LaneKind::kNoStreamSync}) == "No stream (sync)");
  CHECK(LaneLabel({.kind = LaneKind::kThreadApi, .thread = 12}) == "Thread 12 (API)");
}

}  // namespace
}  // namespace nanolane::trace
