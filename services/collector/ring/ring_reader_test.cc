#include "services/collector/ring/ring_reader.h"

#include <unistd.h>

#include <memory>

#include "catch2/catch.hpp"
#include "services/collector/ring/testing/ring_log.h"
#include "services/collector/ring/testing/ring_writer.h"

namespace nanolane::collector {
namespace {

constexpr size_t kEverything = 1 << 20;

struct Rig {
  explicit Rig(uint32_t pages = 8)
      : ring(*RingMemory::Create({.page_count = pages, .facts_bytes = 4096})),
        writer(*ring),
        reader(std::make_unique<RingReader>(*ring)) {}

  RingLog Read(size_t limit = kEverything) {
    RingLog log;
    reader->Read(limit, log);
    return log;
  }
  bool Mark(uint32_t thread, int64_t start_ns) {
    return writer.Write(thread, wire::NvtxRecord{.start_ns = start_ns});
  }

  std::unique_ptr<RingMemory> ring;
  RingWriter writer;
  std::unique_ptr<RingReader> reader;
};

}  // namespace

TEST_CASE("each record is read once, in the order in which pages were taken") {
  Rig rig;
  rig.Mark(11, 1);
  rig.Mark(12, 2);
  rig.Mark(11, 3);
  RingLog log = rig.Read();
  CHECK(log.starts() == std::vector<int64_t>{1, 3, 2});
  CHECK(log.records[0].thread == 11);
  CHECK(log.records[2].thread == 12);
  CHECK(rig.Read().records.empty());
  rig.Mark(11, 4);
  CHECK(rig.Read().starts() == std::vector<int64_t>{4});
}

TEST_CASE("a pass stops at its limit and the next one goes on") {
  Rig rig;
  for (int64_t i = 0; i < 10; ++i) rig.Mark(1, i);
  CHECK(rig.Read(4).starts() == std::vector<int64_t>{0, 1, 2, 3});
  CHECK(rig.Read(0).records.empty());
  CHECK(rig.Read(100).starts() == std::vector<int64_t>{4, 5, 6, 7, 8, 9});
}

TEST_CASE("a page that is being taken waits until it has its number") {
  Rig rig;
  const uint32_t page = *rig.writer.Take(5);
  rig.ring->header().next_claim.store(0);
  rig.ring->page_header(page).used.store(8);
  CHECK(rig.Read().records.empty());
  CHECK(rig.reader->corrupt_pages() == 0);
}

TEST_CASE("a page is given back once it is closed, read and safe") {
  Rig rig;
  rig.Mark(1, 1);
  const RingLog log = rig.Read();
  rig.reader->Mark(log.records[0].ref, 5);
  rig.reader->SetSafe(5);
  CHECK(rig.reader->Release() == 0);  // open
  rig.writer.Close(1);
  rig.Read();
  CHECK(rig.reader->Release() == 1);
  CHECK(rig.writer.FreePages() == 8);
  // And taken anew, it is read anew.
  rig.Mark(2, 9);
  CHECK(rig.Read().starts() == std::vector<int64_t>{9});
}

TEST_CASE("a page with an event that is in no append, or in one that is not safe, stays") {
  Rig rig;
  rig.Mark(1, 1);
  rig.Mark(1, 2);
  rig.writer.Close(1);
  const RingLog log = rig.Read();
  rig.reader->Mark(log.records[0].ref, 1);
  rig.reader->SetSafe(10);
  CHECK(rig.reader->Release() == 0);
  rig.reader->Mark(log.records[1].ref, 11);
  CHECK(rig.reader->Release() == 0);
  rig.reader->SetSafe(11);
  CHECK(rig.reader->Release() == 1);
}

TEST_CASE("a page that is closed before it has been read to its end stays") {
  Rig rig;
  rig.Mark(1, 1);
  rig.Mark(1, 2);
  rig.writer.Close(1);
  const RingLog log = rig.Read(1);
  rig.reader->Mark(log.records[0].ref, 1);
  rig.reader->SetSafe(1);
  CHECK(rig.reader->Release() == 0);
}

TEST_CASE("a page that was closed empty is given back") {
  Rig rig;
  REQUIRE(rig.writer.Take(3).has_value());
  rig.Read();
  CHECK(rig.reader->Release() == 0);
  rig.ring->page_header(0).state.store(static_cast<uint32_t>(wire::PageState::kClosed));
  rig.Read();
  CHECK(rig.reader->Release() == 1);
}

TEST_CASE("a launch that is wanted holds its page until the ring gets full") {
  Rig rig(8);
  for (uint32_t thread = 1; thread <= 8; ++thread) {
    rig.writer.Write(thread, wire::LaunchRecord{.start_ns = thread});
    if (thread <= 6) rig.writer.Close(thread);
    for (const LoggedRecord& record : rig.Read().records) rig.reader->Pin(record.ref);
    if (thread == 6) CHECK(rig.reader->Release() == 0);  // two of eight are free
  }
  // None is free: as many give way as make a quarter.
  CHECK(rig.reader->Release() == 2);
  CHECK(rig.writer.FreePages() == 2);
}

TEST_CASE("a launch that is no longer wanted lets its page go") {
  Rig rig;
  rig.writer.Write(1, wire::LaunchRecord{});
  rig.writer.Close(1);
  const RingLog log = rig.Read();
  rig.reader->Pin(log.records[0].ref);
  CHECK(rig.reader->Release() == 0);
  rig.reader->MarkLaunch(log.records[0].ref, 3);
  rig.reader->Unpin(log.records[0].ref);
  CHECK(rig.reader->Release() == 0);  // its work is not safe yet
  rig.reader->SetSafe(3);
  CHECK(rig.reader->Release() == 1);
}

TEST_CASE("marks for a page that was given back do nothing to the next taking") {
  Rig rig;
  rig.Mark(1, 1);
  rig.writer.Close(1);
  const RecordRef old = rig.Read().records[0].ref;
  rig.reader->Mark(old, 0);
  REQUIRE(rig.reader->Release() == 1);
  rig.Mark(1, 2);
  rig.writer.Close(1);
  const RecordRef fresh = rig.Read().records[0].ref;
  CHECK(fresh.page == old.page);
  rig.reader->Mark(old, 0);
  CHECK(rig.reader->Release() == 0);
  rig.reader->Mark(fresh, 0);
  CHECK(rig.reader->Release() == 1);
}

TEST_CASE("the ring is finished when it has stopped and everything was read") {
  Rig rig;
  rig.Mark(1, 1);
  rig.Mark(1, 2);
  rig.Read();
  CHECK_FALSE(rig.reader->Finished());
  rig.Mark(1, 3);
  rig.writer.Stop();
  CHECK_FALSE(rig.reader->Finished());
  CHECK(rig.Read(1).records.size() == 1);
  CHECK_FALSE(rig.reader->Finished());  // there might be more
  rig.Read(1);
  CHECK(rig.reader->Finished());
}

TEST_CASE("facts are handed out once, before the records that came after them") {
  Rig rig;
  rig.writer.WriteName(1, "first");
  CHECK(rig.Read().facts == std::vector<std::string>{"first"});
  rig.writer.WriteName(2, "second, with 24 bytes...");
  rig.writer.WriteText(wire::FactType::kNote, 0, "");
  CHECK(rig.Read().facts == std::vector<std::string>{"second, with 24 bytes...", ""});
  CHECK_FALSE(rig.reader->corrupt_facts());
}

TEST_CASE("a ring that is adopted hands out what is not stored, and launches again") {
  Rig rig;
  for (int64_t i = 1; i <= 4; ++i) rig.Mark(1, i);
  rig.writer.Write(1, wire::LaunchRecord{.start_ns = 5});
  rig.writer.Write(1, wire::LaunchRecord{.start_ns = 6});
  const RingLog first = rig.Read();
  rig.reader->Mark(first.records[0].ref, 1);
  rig.reader->Mark(first.records[1].ref, 2);
  rig.reader->Mark(first.records[2].ref, 3);
  rig.reader->MarkLaunch(first.records[4].ref, 2);
  rig.reader = std::make_unique<RingReader>(*rig.ring);
  CHECK(rig.reader->writer_epoch() == 1);
  rig.reader->Adopt(2, 9);
  CHECK(rig.reader->writer_epoch() == 9);
  const RingLog second = rig.Read();
  CHECK(second.starts() == std::vector<int64_t>{3, 4, 5, 6});
  CHECK(second.records[2].stored);
  CHECK_FALSE(second.records[3].stored);
  CHECK(rig.reader->skipped() == 2);
}

TEST_CASE("sequences of one epoch mean nothing in the next") {
  Rig rig;
  for (int64_t i = 1; i <= 3; ++i) rig.Mark(1, i);
  const RingLog first = rig.Read();
  for (const LoggedRecord& record : first.records) rig.reader->Mark(record.ref, 70);
  // 50 are stored, so none of them; and this collector dies before it reads anything.
  RingReader(*rig.ring).Adopt(50, 2);
  // 80 of epoch 2 are stored.
  rig.reader = std::make_unique<RingReader>(*rig.ring);
  rig.reader->Adopt(80, 3);
  CHECK(rig.Read().starts() == std::vector<int64_t>{1, 2, 3});
}

TEST_CASE("what was stored stays stored over any number of epochs") {
  Rig rig;
  for (int64_t i = 1; i <= 3; ++i) rig.Mark(1, i);
  const RingLog first = rig.Read();
  for (const LoggedRecord& record : first.records) rig.reader->Mark(record.ref, 70);
  RingReader(*rig.ring).Adopt(70, 2);
  rig.reader = std::make_unique<RingReader>(*rig.ring);
  rig.reader->Adopt(0, 3);
  CHECK(rig.Read().records.empty());
  // Everything in the page is safe.
  rig.writer.Close(1);
  rig.Read();
  CHECK(rig.reader->Release() == 1);
}

TEST_CASE("counters that fall are not believed") {
  Rig rig;
  rig.ring->header().produced[0].store(10);
  CHECK(rig.reader->UpdateCounters().produced()[0] == 10);
  rig.ring->header().produced[0].store(4);
  CHECK(rig.reader->UpdateCounters().produced()[0] == 10);
  CHECK(rig.reader->counters().decreases() == 1);
  rig.ring->header().lost[1][2].store(3);
  CHECK(rig.reader->UpdateCounters().lost()[1][2] == 3);
}

}  // namespace nanolane::collector
