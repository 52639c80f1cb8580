#include "libs/trace/block_codec.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "libs/trace/little_endian.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nanolane::trace {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// Random columns: each chosen at random to be constant, small, drifting, or wholly random with
// extremes, so that every transform and plane count comes up.
class RandomEvents {
 public:
  explicit RandomEvents(uint32_t seed) : random_(seed) {}

  EventColumns Make(size_t count) {
    EventColumns events;
    const auto shapes = Shapes();
    int64_t drift = 0;
    for (size_t i = 0; i < count; ++i) {
      drift += static_cast<int64_t>(random_() % 5'000);
      const auto value = [&](size_t column) { return Value(shapes[column], drift); };
      events.Add({.op = static_cast<OpId>(value(0)),
                  .start_ns = static_cast<int64_t>(value(1)),
                  .duration_ns = static_cast<int64_t>(value(2)),
                  .launch_start_ns = static_cast<int64_t>(value(3)),
                  .launch_duration_ns = static_cast<int64_t>(value(4)),
                  .stack = static_cast<StackId>(value(5)),
                  .thread = value(6),
                  .correlation = value(7),
                  .graph_node = value(8),
                  .bytes = static_cast<int64_t>(value(9)),
                  .address = value(10),
                  .pool = static_cast<uint32_t>(value(11)),
                  .level_bytes = static_cast<int64_t>(value(12)),
                  .reserved_bytes = static_cast<int64_t>(value(13))});
    }
    return events;
  }

 private:
  std::array<uint32_t, kMaxColumn> Shapes() {
    std::array<uint32_t, kMaxColumn> shapes{};
    for (uint32_t& shape : shapes) shape = static_cast<uint32_t>(random_() % 6);
    return shapes;
  }

  uint64_t Value(uint32_t shape, int64_t drift) {
    switch (shape) {
      case 0: return 0;
      case 1: return 42;
      case 2: return random_() % 40;
      case 3: return static_cast<uint64_t>(drift + static_cast<int64_t>(random_() % 300));
      case 4:
        return std::array<uint64_t, 6>{0,
                                       1,
                                       static_cast<uint64_t>(kMin),
                                       static_cast<uint64_t>(kMax),
                                       ~uint64_t{0},
                                       0x8000}[random_() % 6];
      default: return (static_cast<uint64_t>(random_()) << 32) | random_();
    }
  }

  std::mt19937 random_;
};

EventColumns RoundTrip(const EventColumns& events) {
  const auto block = EncodeBlock(events, {.lane = 3, .needs = {}});
  REQUIRE(block.ok());
  EventColumns decoded;
  REQUIRE(DecodeBlock(*block, ColumnSet::All(), decoded).ok());
  return decoded;
}

void CheckEqual(const EventColumns& a, const EventColumns& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a.At(i) == b.At(i)) continue;
    CAPTURE(i);
    FAIL("an event changed in the round trip");
  }
}

EventColumns Typical(size_t count) {
  EventColumns events;
  std::mt19937 random(7);
  int64_t start = 1'000'000;
  for (size_t i = 0; i < count; ++i) {
    start += 2'000 + static_cast<int64_t>(random() % 400);
    events.Add({.op = static_cast<OpId>(1 + i % 50),
                .start_ns = start,
                .duration_ns = 1'500 + static_cast<int64_t>(random() % 100),
                .launch_start_ns = start - 8'000,
                .launch_duration_ns = 3'000,
                .stack = static_cast<StackId>(1 + i % 50),
                .thread = 4'121,
                .correlation = 1'000 + 3 * i});
  }
  return events;
}

TEST_CASE("any events come back from a block exactly as they were") {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    RandomEvents random(seed);
    const EventColumns events = random.Make(1 + seed * 7 % 700);
    CheckEqual(events, RoundTrip(events));
  }
}

TEST_CASE("a full block of the largest size comes back exactly") {
  RandomEvents random(99);
  const EventColumns events = random.Make(kMaxBlockEvents);
  CheckEqual(events, RoundTrip(events));
}

TEST_CASE("a subset of the columns decodes to the same values as all of them") {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    RandomEvents random(1'000 + seed);
    const EventColumns events = random.Make(200);
    const auto block = EncodeBlock(events, {.lane = 1, .needs = {}});
    REQUIRE(block.ok());
    EventColumns timeline;
    REQUIRE(DecodeBlock(*block, ColumnSet::Timeline(), timeline).ok());
    CHECK(timeline.start_ns == events.start_ns);
    CHECK(timeline.duration_ns == events.duration_ns);
    CHECK(timeline.op == events.op);
    CHECK(timeline.launch_start_ns.empty());
    EventColumns some;
    REQUIRE(DecodeBlock(*block, ColumnSet().With(Column::kLevel).With(Column::kLaunchStart), some)
                .ok());
    CHECK(some.level_bytes == events.level_bytes);
    CHECK(some.launch_start_ns == events.launch_start_ns);
    CHECK(some.bytes.empty());
  }
}

TEST_CASE("blocks append to what was decoded before") {
  const EventColumns events = Typical(100);
  const auto block = EncodeBlock(events, {.lane = 1, .needs = {}});
  EventColumns decoded;
  REQUIRE(DecodeBlock(*block, ColumnSet::All(), decoded).ok());
  REQUIRE(DecodeBlock(*block, ColumnSet::All(), decoded).ok());
  REQUIRE(decoded.size() == 200);
  CHECK(decoded.At(150) == events.At(50));
}

TEST_CASE("the header says what is in the block") {
  EventColumns events;
  events.Add({.op = 4, .start_ns = 100, .duration_ns = 50, .stack = 9});
  events.Add({.op = 2, .start_ns = 120, .duration_ns = 10, .stack = 1});
  events.Add({.op = 2, .start_ns = 200, .duration_ns = 0, .stack = 1});
  const auto block = EncodeBlock(
      events, {.lane = 5, .needs = {.strings = 11, .frames = 12, .stacks = 0, .ops = 0}});
  const auto header = ReadBlockHeader(*block);
  REQUIRE(header.ok());
  CHECK(header->lane == 5);
  CHECK(header->event_count == 3);
  CHECK(header->sorted);
  CHECK_FALSE(header->disjoint);
  CHECK(header->first_ns == 100);
  CHECK(header->last_ns == 200);
  CHECK(header->longest_ns == 50);
  CHECK(header->busy_ns == 50);
  CHECK(header->needs.strings == 11);
  CHECK(header->needs.frames == 12);
  CHECK(header->needs.stacks == 9);
  CHECK(header->needs.ops == 4);
  CHECK(header->level_lowest == kNoLevel);
}

TEST_CASE("busy time is the union of the spans, whatever their order") {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    EventColumns events;
    std::vector<bool> covered(2'000, false);
    for (int i = 0; i < 40; ++i) {
      const auto start = static_cast<int64_t>(random() % 1'900);
      const auto duration = static_cast<int64_t>(random() % 100) - 10;
      events.Add({.op = 1, .start_ns = start, .duration_ns = duration});
      for (int64_t t = start; t < start + duration; ++t) covered[static_cast<size_t>(t)] = true;
    }
    const auto header = ReadBlockHeader(*EncodeBlock(events, {.lane = 1, .needs = {}}));
    CHECK(header->busy_ns == std::count(covered.begin(), covered.end(), true));
  }
}

TEST_CASE("a memory block says the level before it, the lowest and the highest") {
  EventColumns events;
  events.Add({.op = 1, .start_ns = 1, .bytes = 100, .level_bytes = 1'100, .reserved_bytes = 2'000});
  events.Add({.op = 2, .start_ns = 2, .bytes = -600, .level_bytes = 500, .reserved_bytes = 2'000});
  const auto header = ReadBlockHeader(*EncodeBlock(events, {.lane = 1, .needs = {}}));
  CHECK(header->level_before == 1'000);
  CHECK(header->level_lowest == 500);
  CHECK(header->level_highest == 1'100);
}

TEST_CASE("events that cannot make a block are refused") {
  EventColumns events;
  CHECK(EncodeBlock(events, {}).status().code() == absl::StatusCode::kInvalidArgument);
  events.Add({.op = 1});
  events.stack.clear();
  CHECK(EncodeBlock(events, {}).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(EncodeBlock(Typical(kMaxBlockEvents + 1), {}).status().code() ==
        absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a block that was cut or changed anywhere is refused and leaves the output alone") {
  const auto block = EncodeBlock(Typical(300), {.lane = 1, .needs = {}});
  REQUIRE(block.ok());
  EventColumns out = Typical(2);
  for (size_t size = 0; size < block->size(); size += 13) {
    CHECK_FALSE(DecodeBlock(std::string_view(*block).substr(0, size), ColumnSet::All(), out).ok());
  }
  for (size_t at = 0; at < block->size(); at += 5) {
    std::string changed = *block;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    CHECK_FALSE(DecodeBlock(changed, ColumnSet::All(), out).ok());
  }
  CHECK(out.size() == 2);
  CHECK(out.stack.size() == 2);
}

// Makes the checksum right again, as an attacker would.
void Reseal(std::string& block) {
  PutLittle<uint64_t>(&block[8], XXH3_64bits(block.data() + 16, block.size() - 16));
}

TEST_CASE(
    "a hostile block with a right checksum yields a status or events, never more than it says") {
  const auto block = EncodeBlock(Typical(300), {.lane = 1, .needs = {}});
  std::mt19937 random(5);
  for (int round = 0; round < 3'000; ++round) {
    std::string changed = *block;
    for (int flips = 0; flips < 3; ++flips) {
      changed[16 + random() % (changed.size() - 16)] = static_cast<char>(random());
    }
    PutLittle<uint32_t>(&changed[16], static_cast<uint32_t>(changed.size()));
    Reseal(changed);
    EventColumns out;
    const absl::Status status = DecodeBlock(changed, ColumnSet::All(), out);
    CHECK((out.empty() || status.ok()));
    CHECK(out.size() <= kMaxBlockEvents);
  }
}

TEST_CASE("a column of a later version is skipped") {
  std::string block = *EncodeBlock(Typical(10), {.lane = 1, .needs = {}});
  block += std::string("\x63\x09\x09\x09\x03\x00\x00\x00xyz", 11);
  PutLittle<uint32_t>(&block[104], GetLittle<uint32_t>(&block[104]) + 1);
  PutLittle<uint32_t>(&block[16], static_cast<uint32_t>(block.size()));
  Reseal(block);
  EventColumns out;
  REQUIRE(DecodeBlock(block, ColumnSet::All(), out).ok());
  CHECK(out.size() == 10);
}

TEST_CASE("a block of a later version is refused with that reason") {
  std::string block = *EncodeBlock(Typical(10), {.lane = 1, .needs = {}});
  PutLittle<uint32_t>(&block[4], kBlockVersion + 1);
  CHECK(ReadBlockHeader(block).status().code() == absl::StatusCode::kUnimplemented);
}

TEST_CASE("sorting by start keeps the order of equal starts") {
  EventColumns events;
  events.Add({.op = 1, .start_ns = 5});
  events.Add({.op = 2, .start_ns = 3});
  events.Add({.op = 3, .start_ns = 5});
  events.SortByStart();
  CHECK(events.op == std::vector<uint32_t>{2, 1, 3});
}

}  // namespace
}  // namespace nanolane::trace
