// Rings of a process that writes whatever it likes. Run under the asan preset, these show that the
// reader stays within the ring; anywhere, that it comes to an end.
#include <memory>
#include <random>

#include "catch2/catch.hpp"
#include "services/collector/ring/ring_reader.h"
#include "services/collector/ring/testing/ring_log.h"
#include "services/collector/ring/testing/ring_writer.h"

namespace nanolane::collector {
namespace {

constexpr size_t kEverything = 1 << 20;

struct Rig {
  Rig() : ring(*RingMemory::Create({.page_count = 4, .facts_bytes = 4096})), writer(*ring) {
    for (int64_t i = 0; i < 3; ++i) writer.Write(1, wire::NvtxRecord{.start_ns = i});
    writer.WriteName(1, "name");
  }
  RingLog Read() {
    RingLog log;
    reader.Read(kEverything, log);
    return log;
  }

  std::unique_ptr<RingMemory> ring;
  RingWriter writer;
  RingReader reader{*ring};
};

void SetHead(RingMemory& ring, uint32_t offset, uint16_t type, uint16_t size) {
  const uint64_t head = uint64_t{type} | uint64_t{size} << 16;
  std::memcpy(ring.page(0) + offset, &head, sizeof(head));
}

}  // namespace

TEST_CASE("a record of an impossible size or type ends its page") {
  const auto [type, size] = GENERATE(table<uint16_t, uint16_t>(
      {{6, 0}, {6, 8}, {6, 56}, {6, 0xFFF8}, {0, 48}, {9, 48}, {0xFFFF, 48}, {2, 48}}));
  Rig rig;
  SetHead(*rig.ring, sizeof(wire::NvtxRecord), type, size);
  CHECK(rig.Read().records.size() == 1);
  CHECK(rig.reader.corrupt_pages() == 1);
  CHECK(rig.Read().records.empty());
  CHECK(rig.reader.corrupt_pages() == 1);
}

TEST_CASE("a record that would reach over the end of what is used ends its page") {
  Rig rig;
  rig.ring->page_header(0).used.store(2 * sizeof(wire::NvtxRecord) + 8);
  CHECK(rig.Read().records.size() == 2);
  CHECK(rig.reader.corrupt_pages() == 1);
}

TEST_CASE("an impossible extent spoils a page") {
  const uint32_t used = GENERATE(4U, 65'544U, 0xFFFFFFF8U, 47U);
  Rig rig;
  rig.ring->page_header(0).used.store(used);
  CHECK(rig.Read().records.empty());
  CHECK(rig.reader.corrupt_pages() == 1);
}

TEST_CASE("a page that shrinks, or grows after it was closed, is spoilt") {
  Rig rig;
  REQUIRE(rig.Read().records.size() == 3);
  SECTION("shrinks") { rig.ring->page_header(0).used.store(sizeof(wire::NvtxRecord)); }
  SECTION("grows") {
    rig.writer.Close(1);
    rig.Read();
    rig.ring->page_header(0).used.fetch_add(sizeof(wire::NvtxRecord));
  }
  CHECK(rig.Read().records.empty());
  CHECK(rig.reader.corrupt_pages() == 1);
}

TEST_CASE("a spoilt page is given back when it is closed and what was read of it is safe") {
  Rig rig;
  const RingLog log = rig.Read();
  rig.ring->page_header(0).used.store(4);
  rig.writer.Close(1);
  rig.Read();
  CHECK(rig.reader.Release() == 0);
  for (const LoggedRecord& record : log.records) rig.reader.Mark(record.ref, 1);
  rig.reader.SetSafe(1);
  CHECK(rig.reader.Release() == 1);
  rig.writer.Write(1, wire::NvtxRecord{.start_ns = 77});
  CHECK(rig.Read().starts() == std::vector<int64_t>{77});
}

TEST_CASE("a page that is freed or taken anew behind the reader's back is counted") {
  Rig rig;
  rig.Read();
  SECTION("freed") { rig.ring->page_header(0).state.store(0); }
  SECTION("taken anew") {
    rig.ring->header().next_claim.store(9);
    rig.ring->page_header(0).claim.store(9);
  }
  SECTION("taken under an old number") {
    rig.ring->header().next_claim.store(9);
    rig.ring->page_header(0).claim.store(7);
    rig.Read();
    rig.ring->page_header(0).claim.store(6);
  }
  rig.Read();
  CHECK(rig.reader.corrupt_pages() >= 1);
}

TEST_CASE("facts that make no sense end the facts, not the records") {
  const auto [at, value] = GENERATE(table<size_t, uint32_t>(
      {{0, 0}, {0, 12}, {0, 8}, {0, 0xFFFFFFF8}, {0, 65'536}, {4, 99}, {4, 2}, {12, 9}}));
  Rig rig;
  std::memcpy(rig.ring->facts() + at, &value, sizeof(value));
  const RingLog log = rig.Read();
  CHECK(log.facts.empty());
  CHECK(log.records.size() == 3);
  CHECK(rig.reader.corrupt_facts());
  rig.writer.WriteName(2, "later");
  CHECK(rig.Read().facts.empty());
}

TEST_CASE("an impossible extent of the facts is not followed") {
  Rig rig;
  REQUIRE(rig.Read().facts.size() == 1);
  rig.ring->header().facts_used.store(
      GENERATE(uint64_t{0}, uint64_t{4104}, ~uint64_t{0}, uint64_t{25}));
  CHECK(rig.Read().facts.empty());
  CHECK(rig.reader.corrupt_facts());
}

TEST_CASE("no ring makes the reader crash, leave the ring, or run on") {
  std::mt19937_64 random(20'240'607);
  for (int round = 0; round < 3'000; ++round) {
    Rig rig;
    for (int64_t i = 0; i < 20; ++i) {
      rig.writer.Write(static_cast<uint32_t>(random() % 4), wire::KernelRecord{.start_ns = i});
      rig.writer.Write(static_cast<uint32_t>(random() % 4), wire::LaunchRecord{.start_ns = i});
    }
    if (round % 2 == 1) rig.reader.Adopt(random() % 4, 2);
    std::vector<RecordRef> refs;
    for (int step = 0; step < 12; ++step) {
      const size_t span = step % 2 == 0 ? wire::FactsOffset(4) : wire::PagesOffset(4, 4096) + 4096;
      auto* const base = reinterpret_cast<std::byte*>(&rig.ring->header());
      for (uint64_t flips = random() % 64; flips > 0; --flips) {
        base[random() % span] ^= static_cast<std::byte>(random());
      }
      RingLog log;
      const size_t given = rig.reader.Read(kEverything, log);
      CHECK(given <= 4 * wire::kPageBytes / sizeof(wire::LaunchRecord));
      CHECK(given == log.records.size());
      for (const LoggedRecord& record : log.records) refs.push_back(record.ref);
      for (const RecordRef& ref : refs) {
        if (random() % 3 == 0) rig.reader.Pin(ref);
        if (random() % 2 == 0) rig.reader.Mark(ref, random() % 8);
        if (random() % 3 == 0) rig.reader.Unpin(ref);
      }
      rig.reader.SetSafe(random() % 8);
      rig.reader.Release();
      rig.reader.UpdateCounters();
      rig.reader.status();
    }
  }
}

}  // namespace nanolane::collector
