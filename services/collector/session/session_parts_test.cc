#include "catch2/catch.hpp"
#include "services/collector/session/clean_text.h"
#include "services/collector/session/clock_pairs.h"
#include "services/collector/session/held_events.h"
#include "services/collector/session/launch_table.h"
#include "services/collector/session/memory_levels.h"

namespace nanolane::collector {

TEST_CASE("text that is not UTF-8 is made so") {
  CHECK(CleanText("gemm é") == "gemm é");
  CHECK(CleanText("a\xFF\xFE"
                  "b") ==
        "a\xEF\xBF\xBD\xEF\xBF\xBD"
        "b");
  CHECK(CleanText("\xC3") == "\xEF\xBF\xBD");
  CHECK(CleanText("").empty());
}

TEST_CASE("mangled names are read, others stay as they are") {
  CHECK(Demangled("_Z4axpyfPfS_") == "axpy(float, float*, float*)");
  CHECK(Demangled("_Z") == "_Z");
  CHECK(Demangled("triton_red_fused") == "triton_red_fused");
  CHECK(Demangled("i") == "i");  // not the type "int"
}

TEST_CASE("fields of fixed length need no end") {
  const char full[4] = {'a', 'b', 'c', 'd'};
  CHECK(FieldText(full, sizeof(full)) == "abcd");
  CHECK(FieldText("ab\0d", 4) == "ab");
}

TEST_CASE("UUIDs are written as CUDA's tools write them") {
  const unsigned char uuid[16] = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0,
                                  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};
  CHECK(UuidText(uuid) == "GPU-12345678-9abc-def0-0102-030405060708");
  const unsigned char none[16] = {};
  CHECK(UuidText(none).empty());
}

TEST_CASE("clock readings are thinned out evenly") {
  ClockPairs pairs;
  nanolane::trace::v1::ClockFacts facts;
  pairs.Fill(facts);
  CHECK_FALSE(facts.unix_offset_known());
  for (int64_t i = 0; i < 100'000; ++i) {
    pairs.Add({.monotonic_ns = i, .realtime_ns = 5'000 + i});
    if (i == 999) {
      pairs.Fill(facts);
      CHECK(facts.pairs_size() == 1000);
    }
  }
  pairs.Fill(facts);
  CHECK(facts.unix_offset_ns() == 5'000);
  REQUIRE(facts.pairs_size() <= 1000);
  REQUIRE(facts.pairs_size() > 500);
  const int64_t step = facts.pairs(1).session_ns() - facts.pairs(0).session_ns();
  for (int i = 0; i < facts.pairs_size(); ++i) CHECK(facts.pairs(i).session_ns() == i * step);
}

TEST_CASE("launches beyond the bound go, the oldest first, and such without work are told") {
  LaunchTable table;
  std::vector<uint32_t> dropped;
  const auto note = [&](const Launch& launch) { dropped.push_back(launch.correlation); };
  const auto count = static_cast<uint32_t>(LaunchTable::kMaxLaunches);
  for (uint32_t i = 1; i <= count + 3; ++i) table.Add({.correlation = i}, note);
  CHECK(dropped == std::vector<uint32_t>{1, 2, 3});
  CHECK(table.Find(3) == nullptr);
  CHECK(table.Find(4) != nullptr);
  CHECK(table.size() == count);
}

TEST_CASE("launches that have met their work go early and silently") {
  LaunchTable table;
  size_t dropped = 0;
  const auto note = [&](const Launch&) { ++dropped; };
  const auto count = static_cast<uint32_t>(LaunchTable::kMatchedLaunches);
  for (uint32_t i = 1; i <= count + 5; ++i) {
    table.Add({.correlation = i, .is_matched = true}, note);
  }
  CHECK(table.size() == count);
  CHECK(table.Find(5) == nullptr);
  CHECK(table.Find(6) != nullptr);
  CHECK(dropped == 0);
}

TEST_CASE("a correlation that comes again means the newer call, and outlives the older one") {
  LaunchTable table;
  size_t dropped = 0;
  const auto note = [&](const Launch&) { ++dropped; };
  table.Add({.start_ns = 1, .correlation = 7}, note);
  table.Add({.start_ns = 2, .correlation = 7}, note);
  CHECK(table.Find(7)->start_ns == 2);
  table.Clear(note);
  CHECK(dropped == 2);
  CHECK(table.Find(7) == nullptr);
}

TEST_CASE("held events are handed out by correlation or by age, each once") {
  HeldEvents held;
  std::vector<uint64_t> seen;
  const auto note = [&](HeldEvent& event) { seen.push_back(event.ref.claim); };
  const auto add = [&](uint64_t id, uint32_t correlation, int64_t deadline_ns) {
    held.Add({.ref = {.claim = id}, .correlation = correlation, .deadline_ns = deadline_ns}, note);
  };
  add(1, 10, 100);
  add(2, 20, 110);
  add(3, 10, 120);
  add(4, 20, 130);
  add(5, 10, 140);
  held.Take(99, note);
  CHECK(seen.empty());
  held.Expire(100, note);
  CHECK(seen == std::vector<uint64_t>{1});
  held.Take(10, note);
  CHECK(seen == std::vector<uint64_t>{1, 3, 5});
  held.Take(10, note);
  CHECK(held.size() == 2);
  held.Expire(1000, note);
  CHECK(seen == std::vector<uint64_t>{1, 3, 5, 2, 4});
  CHECK(held.empty());
}

TEST_CASE("held events beyond the bound go, the oldest first") {
  HeldEvents held;
  std::vector<uint64_t> seen;
  const auto note = [&](HeldEvent& event) { seen.push_back(event.ref.claim); };
  for (uint64_t i = 1; i <= HeldEvents::kMaxHeld + 2; ++i) {
    held.Add({.ref = {.claim = i}, .correlation = static_cast<uint32_t>(i % 3)}, note);
  }
  CHECK(seen == std::vector<uint64_t>{1, 2});
}

TEST_CASE("a level needs a baseline, and counts what came after it on the device alone") {
  MemoryLevels levels;
  CHECK(levels.After({.time_ns = 5, .bytes = 10, .device = 1, .memory_kind = 3}) ==
        trace::kNoLevel);
  levels.AddBaseline({.header = {.id = 1}, .time_ns = 100, .used_bytes = 1000});
  levels.AddBaseline({.header = {.id = 1}, .time_ns = 200, .used_bytes = 9000});
  CHECK(levels.After({.time_ns = 99, .bytes = 10, .device = 1, .memory_kind = 3}) ==
        trace::kNoLevel);
  CHECK(levels.After({.time_ns = 100, .bytes = 10, .device = 1, .memory_kind = 3}) == 1010);
  CHECK(levels.After({.time_ns = 101, .bytes = 500, .device = 1, .memory_kind = 2}) == 1010);
  CHECK(levels.After({.time_ns = 102, .bytes = -1010, .device = 1, .memory_kind = 3}) == 0);
  const int64_t most = std::numeric_limits<int64_t>::max();
  CHECK(levels.After({.time_ns = 103, .bytes = most, .device = 1, .memory_kind = 3}) == most);
  CHECK(levels.After({.time_ns = 104, .bytes = most, .device = 1, .memory_kind = 3}) == most);
}

TEST_CASE("pools have small numbers") {
  MemoryLevels levels;
  CHECK(levels.PoolNumber(0) == 0);
  CHECK(levels.PoolNumber(0x7F00) == 1);
  CHECK(levels.PoolNumber(0x8F00) == 2);
  CHECK(levels.PoolNumber(0x7F00) == 1);
}

}  // namespace nanolane::collector
