#include "libs/trace/wire.h"

#include <catch2/catch.hpp>
#include <random>

namespace nanolane::trace {
namespace {

// A delta with entries of every table, from a random but consistent writer.
DictionaryDelta RandomDelta(uint32_t seed, int entries) {
  std::mt19937 random(seed);
  DictionaryBuilder builder;
  for (int i = 0; i < entries; ++i) {
    const StringId name = builder.Intern("name " + std::to_string(random() % 1'000));
    const FrameId frame = builder.Intern(Frame{.module = name, .offset = random() % 100});
    builder.SetSymbol(frame, {.function = name,
                              .file = name,
                              .line = static_cast<uint32_t>(random() % 500),
                              .language = static_cast<Language>(random() % 7),
                              .category = static_cast<FrameCategory>(random() % 5)});
    builder.Intern(
        StackNode{.parent = static_cast<StackId>(random() % (builder.tables().stack_count() + 1)),
                  .frame = frame});
    builder.Intern(Op{.kind = static_cast<EventKind>(random() % kEventKindCount),
                      .family = static_cast<OpFamily>(random() % kOpFamilyCount),
                      .copy_direction = static_cast<CopyDirection>(random() % 6),
                      .source_memory = static_cast<MemoryKind>(random() % 6),
                      .destination_memory = static_cast<MemoryKind>(random() % 6),
                      .sync_kind = static_cast<SyncKind>(random() % 6),
                      .is_async = random() % 2 == 0,
                      .name = name,
                      .grid = {static_cast<uint32_t>(random() % 3), 1, 2},
                      .registers_per_thread = static_cast<uint32_t>(random() % 256),
                      .attributes = {{name, name}}});
    builder.Intern(Lane{.kind = static_cast<LaneKind>(random() % 9),
                        .gpu_uuid = "GPU-1",
                        .gpu_index = static_cast<int32_t>(random() % 3) - 1,
                        .stream = static_cast<int64_t>(random() % 50) - 1,
                        .domain = "d"});
  }
  return builder.TakeDelta();
}

void CheckEqual(const Dictionary& a, const Dictionary& b) {
  REQUIRE(a.sizes() == b.sizes());
  for (StringId id = 1; id <= a.string_count(); ++id) CHECK(a.String(id) == b.String(id));
  for (OpId id = 1; id <= a.op_count(); ++id) CHECK(a.OpOf(id) == b.OpOf(id));
  for (StackId id = 1; id <= a.stack_count(); ++id) CHECK(a.Stack(id) == b.Stack(id));
  for (FrameId id = 1; id <= a.frame_count(); ++id) {
    CHECK(a.FrameOf(id) == b.FrameOf(id));
    CHECK(a.SymbolOf(id) == b.SymbolOf(id));
  }
  CHECK(a.lanes() == b.lanes());
}

TEST_CASE("a dictionary comes back from its proto as it was") {
  const DictionaryDelta delta = RandomDelta(1, 300);
  v1::DictionaryDelta proto;
  ToProto(delta, proto);
  Dictionary before;
  Dictionary after;
  REQUIRE(before.Apply(delta).ok());
  REQUIRE(after.Apply(FromProto(proto)).ok());
  CheckEqual(before, after);
}

TEST_CASE("pieces of a delta, applied in order, make the whole, and none is too large") {
  const DictionaryDelta delta = RandomDelta(2, 400);
  Dictionary whole;
  REQUIRE(whole.Apply(delta).ok());
  for (const size_t max_bytes : {1, 200, 3'000, 1'000'000}) {
    v1::DictionaryDelta proto;
    ToProto(delta, proto);
    const auto pieces = SplitDelta(std::move(proto), max_bytes);
    Dictionary assembled;
    for (const v1::DictionaryDelta& piece : pieces) {
      CHECK(piece.ByteSizeLong() <= max_bytes + 200);  // an entry is never cut
      REQUIRE(assembled.Apply(FromProto(piece)).ok());
    }
    CheckEqual(whole, assembled);
  }
  CHECK(SplitDelta({}, 100).empty());
}

TEST_CASE("enum values of a newer writer read as unspecified") {
  v1::Op op;
  op.set_kind(static_cast<v1::EventKind>(99));
  op.set_family(static_cast<v1::OpFamily>(-1));
  op.add_attributes(1);  // a key without its value
  CHECK(FromProto(op) == Op{});
}

}  // namespace
}  // namespace nanolane::trace
