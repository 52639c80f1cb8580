#include "services/collector/inject/ring_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "services/collector/inject/testing/open_capture.h"

namespace nanolane::inject {
namespace {

// One record of the kind, whose second word says which one it is. False: no room, counted.
bool WriteOne(const CaptureUse& use, uint32_t kind, int64_t number) {
  bool wrote = false;
  const auto fill = [&](auto& record) {
    record.start_ns = number;
    wrote = true;
  };
  switch (kind) {
    case kSlotLaunch: use.Write<wire::LaunchRecord>(wire::RecordType::kLaunch, kind, fill); break;
    case kSlotKernel: use.Write<wire::KernelRecord>(wire::RecordType::kKernel, kind, fill); break;
    case kSlotMemcpy: use.Write<wire::MemcpyRecord>(wire::RecordType::kMemcpy, kind, fill); break;
    default: use.Write<wire::NvtxRecord>(wire::RecordType::kNvtx, kSlotNvtx, fill); break;
  }
  return wrote;
}

bool TryKernel(const CaptureUse& use) {
  return use.TryWrite<wire::KernelRecord>(wire::RecordType::kKernel, kSlotKernel,
                                          [](wire::KernelRecord&) {});
}

// How many kernels fit, for the calling thread.
uint64_t FillWithKernels() {
  uint64_t count = 0;
  const CaptureUse use;
  while (TryKernel(use)) ++count;
  return count;
}

constexpr uint64_t kKernelsOfPage = wire::kPageBytes / sizeof(wire::KernelRecord);

struct Wrote {
  std::vector<int64_t> numbers;
  uint64_t by_kind[wire::kKindSlots] = {};
  uint64_t lost[wire::kKindSlots] = {};
};

// As a program's thread: threads come and go, so that pages are closed by full threads, ending
// threads and the end of the capture.
Wrote WriteAsThreads(uint32_t seed, int threads, int records_each) {
  constexpr uint32_t kKinds[] = {kSlotLaunch, kSlotKernel, kSlotMemcpy, kSlotNvtx};
  Wrote wrote;
  std::mt19937 random(seed);
  for (int t = 0; t < threads; ++t) {
    std::thread([&] {
      for (int i = 0; i < records_each; ++i) {
        const uint32_t kind = kKinds[random() % 4];
        const int64_t number = (int64_t{seed} * threads + t) * records_each + i + 1;
        const CaptureUse use;
        if (!use) continue;
        if (WriteOne(use, kind, number)) {
          wrote.numbers.push_back(number);
          ++wrote.by_kind[kind];
        } else {
          ++wrote.lost[kind];
        }
        if (i % 64 == 0) std::this_thread::yield();
      }
    }).join();
  }
  return wrote;
}

int Memory(size_t bytes, bool sealed) {
  const int fd = memfd_create("test", MFD_ALLOW_SEALING);
  REQUIRE(ftruncate(fd, static_cast<off_t>(bytes)) == 0);
  if (sealed) REQUIRE(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
  return fd;
}

}  // namespace

TEST_CASE("each record of many threads is read once or counted as lost") {
  const uint32_t pages = GENERATE(2U, 5U, 24U);
  CAPTURE(pages);
  OpenCapture capture({.pages = pages});
  constexpr int kWriters = 6;
  std::vector<Wrote> wrote(kWriters);
  std::atomic<int> running{kWriters};
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] {
      wrote[static_cast<size_t>(i)] = WriteAsThreads(static_cast<uint32_t>(i), 5, 2'500);
      running.fetch_sub(1);
    });
  }
  while (running.load() > 0) capture.Read();
  for (std::thread& writer : writers) writer.join();
  capture.End();
  const Contents& contents = capture.Read();

  CHECK(capture.reader().Finished());
  CHECK(capture.reader().corrupt_pages() == 0);
  std::multiset<int64_t> expected;
  uint64_t written[wire::kKindSlots] = {};
  uint64_t lost[wire::kKindSlots] = {};
  for (const Wrote& one : wrote) {
    expected.insert(one.numbers.begin(), one.numbers.end());
    for (uint32_t kind = 0; kind < wire::kKindSlots; ++kind) {
      written[kind] += one.by_kind[kind];
      lost[kind] += one.lost[kind];
    }
  }
  std::multiset<int64_t> got;
  for (const Contents::Kept& record : contents.records) {
    got.insert(static_cast<int64_t>(record.words[1]));
  }
  CHECK(got == expected);
  CHECK(expected.size() > 1'000);
  for (uint32_t kind = 0; kind < wire::kKindSlots; ++kind) {
    CAPTURE(kind);
    CHECK(capture.Produced(kind) == written[kind]);
    CHECK(capture.Lost(wire::LossReason::kRingFull, kind) == lost[kind]);
    CHECK(capture.reader().records()[kind] == written[kind]);
  }
  for (uint32_t page = 0; page < pages; ++page) {
    CHECK(capture.memory().page_header(page).state.load() ==
          static_cast<uint32_t>(wire::PageState::kFree));
  }
}

TEST_CASE("a full ring loses records, and only as many as do not fit") {
  OpenCapture capture({.pages = 2});
  constexpr uint64_t kFits = 2 * kKernelsOfPage;
  {
    const CaptureUse use;
    for (uint64_t i = 0; i < kFits; ++i) REQUIRE(WriteOne(use, kSlotKernel, 1));
    CHECK_FALSE(TryKernel(use));  // not counted
    CHECK_FALSE(WriteOne(use, kSlotKernel, 1));
    CHECK_FALSE(WriteOne(use, kSlotNvtx, 1));
  }
  CHECK(capture.Read().records.size() == kFits);
  CHECK(capture.Lost(wire::LossReason::kRingFull, kSlotKernel) == 1);
  CHECK(capture.Lost(wire::LossReason::kRingFull, kSlotNvtx) == 1);
  // A thread of the application looks for a page again soon, not at once.
  const int64_t deadline = MonotonicNs() + kTestPatienceNs;
  bool wrote = false;
  while (!wrote && MonotonicNs() < deadline) {
    const CaptureUse use;
    wrote = TryKernel(use);
  }
  CHECK(wrote);
  CHECK(capture.Lost(wire::LossReason::kRingFull, kSlotKernel) == 1);
}

TEST_CASE("a sixteenth of the pages is the privileged thread's alone, which never has to wait") {
  OpenCapture capture({.pages = 32});
  capture.ring().SetPrivileged(CurrentThread());
  uint64_t others = 0;
  std::thread([&others] { others = FillWithKernels(); }).join();
  CHECK(others == 30 * kKernelsOfPage);
  CHECK(FillWithKernels() == 2 * kKernelsOfPage);
  CHECK(capture.Read().records.size() == 32 * kKernelsOfPage);
  // At once, although a look has just failed.
  CHECK(FillWithKernels() == 32 * kKernelsOfPage);
  CHECK(capture.Lost(wire::LossReason::kRingFull, kSlotKernel) == 0);
}

TEST_CASE("a capture that was published begins and ends by its times") {
  OpenCapture capture({.begun = false});
  {
    const CaptureUse use;
    CHECK_FALSE(use->Includes(MonotonicNs()));
    CHECK_FALSE(use->HasEnded(MonotonicNs()));
  }
  const int64_t on = MonotonicNs();
  BeginCapture(on, on + 1'000);
  const CaptureUse use;
  CHECK_FALSE(use->Includes(on - 1));
  CHECK(use->Includes(on));
  CHECK(use->Includes(on + 999));
  CHECK_FALSE(use->Includes(on + 1'000));
  CHECK_FALSE(use->HasEnded(on + 999));
  CHECK(use->HasEnded(on + 1'000));
}

TEST_CASE("after a retraction that succeeded the ring can be unmapped under running threads") {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> uses{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        const CaptureUse use;
        if (use && WriteOne(use, kSlotLaunch, 1)) uses.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    const uint64_t before = uses.load();
    OpenCapture capture({.pages = 8});
    while (uses.load() < before + 100) std::this_thread::yield();
    // Unmaps: a thread that wrote now would fault.
    capture.End();
    const Contents& contents = capture.Read();
    REQUIRE(capture.Produced(kSlotLaunch) == contents.records.size());
    for (uint32_t page = 0; page < 8; ++page) {
      REQUIRE(capture.memory().page_header(page).state.load() !=
              static_cast<uint32_t>(wire::PageState::kOwned));
    }
  }
  stop.store(true);
  for (std::thread& writer : writers) writer.join();
}

TEST_CASE("records of threads that end while the capture is retracted are counted") {
  for (int round = 0; round < 100; ++round) {
    OpenCapture capture({.pages = 16});
    std::atomic<int> wrote{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> writers;
    for (int i = 0; i < 4; ++i) {
      writers.emplace_back([&] {
        {
          const CaptureUse use;
          WriteOne(use, kSlotKernel, 7);
        }
        wrote.fetch_add(1);
        while (!go.load()) std::this_thread::yield();
      });
    }
    while (wrote.load() < 4) std::this_thread::yield();
    go.store(true);
    capture.End();
    for (std::thread& writer : writers) writer.join();
    REQUIRE(capture.Read().records.size() == 4);
    REQUIRE(capture.Produced(kSlotKernel) == 4);
  }
}

TEST_CASE("a thread that ended before the capture was unmapped has its records counted") {
  OpenCapture capture;
  std::atomic<bool> wrote{false};
  std::atomic<bool> go{false};
  std::thread writer([&] {
    {
      const CaptureUse use;
      WriteOne(use, kSlotKernel, 7);
    }
    wrote.store(true);
    while (!go.load()) std::this_thread::yield();
  });
  while (!wrote.load()) std::this_thread::yield();
  // Between the two steps of an end: retracted, pages not closed yet.
  REQUIRE(RetractCapture(kTestPatienceNs));
  go.store(true);
  writer.join();
  std::thread([] { CurrentThread(); }).join();  // takes the state of the one that ended
  capture.End();
  CHECK(capture.Read().records.size() == 1);
  CHECK(capture.Produced(kSlotKernel) == 1);
}

TEST_CASE("a retraction says so when a thread stays within a use") {
  OpenCapture capture;
  std::atomic<bool> inside{false};
  std::atomic<bool> leave{false};
  std::thread stuck([&] {
    const CaptureUse use;
    inside.store(true);
    while (!leave.load()) std::this_thread::yield();
    WriteOne(use, kSlotLaunch, 5);
  });
  while (!inside.load()) std::this_thread::yield();
  CHECK_FALSE(RetractCapture(1'000'000));
  {
    const CaptureUse use;
    CHECK_FALSE(use);
  }
  leave.store(true);
  CHECK(RetractCapture(kTestPatienceNs));
  stuck.join();
  capture.End();
  CHECK(capture.Read().records.size() == 1);
}

TEST_CASE("nothing that begins after a capture was closed is recorded") {
  OpenCapture capture({.pages = 64});
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrote{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i) {
    writers.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        const CaptureUse use;
        const int64_t now = MonotonicNs();
        if (!use || use->HasEnded(now)) continue;
        if (WriteOne(use, kSlotLaunch, now)) wrote.fetch_add(1);
      }
    });
  }
  while (wrote.load() < 2'000) std::this_thread::yield();
  const int64_t off = MonotonicNs();
  REQUIRE(CloseCapture(off, kTestPatienceNs));
  const int64_t closed = MonotonicNs();
  const uint64_t at_close = wrote.load();
  CHECK(CaptureIsOn());
  for (int i = 0; i < 50; ++i) std::this_thread::yield();
  CHECK(wrote.load() == at_close);
  stop.store(true);
  for (std::thread& writer : writers) writer.join();
  capture.End();
  const Contents& contents = capture.Read();
  CHECK(contents.records.size() == at_close);
  for (const Contents::Kept& record : contents.records) {
    REQUIRE(static_cast<int64_t>(record.words[1]) < closed);
  }
}

TEST_CASE("a use within another is refused and counted, and the outer one goes on") {
  OpenCapture capture;
  TakeRefusedUses();
  {
    const CaptureUse outer;
    REQUIRE(outer);
    const bool wrote = outer.TryWrite<wire::LaunchRecord>(wire::RecordType::kLaunch, kSlotLaunch,
                                                          [](wire::LaunchRecord& record) {
                                                            // As a signal handler that comes while
                                                            // the record is written.
                                                            const CaptureUse inner;
                                                            CHECK_FALSE(inner);
                                                            record.start_ns = 1;
                                                          });
    CHECK(wrote);
    CHECK(outer.thread().busy.load() == 1);
    WriteOne(outer, kSlotLaunch, 2);
  }
  CHECK(TakeRefusedUses() == 1);
  CHECK(TakeRefusedUses() == 0);
  {
    const CaptureUse again;
    CHECK(again);
  }
  const Contents& contents = capture.Read();
  REQUIRE(contents.records.size() == 2);
  CHECK(contents.records[0].words[1] == 1);
  CHECK(contents.records[1].words[1] == 2);
}

TEST_CASE("what is no ring of this protocol is not mapped") {
  const char* why = "";
  SECTION("memory whose size may change") {
    const int fd = Memory(wire::RingBytes(4, 4096), false);
    CHECK(Ring::Map(fd, &why) == nullptr);
    CHECK(std::string(why) == "the ring's descriptor is no sealed memory");
    close(fd);
  }
  SECTION("no memory at all") {
    const int fd = open("/dev/null", O_RDWR);
    CHECK(Ring::Map(fd, &why) == nullptr);
    CHECK(std::string(why) == "the ring's descriptor is no sealed memory");
    close(fd);
    CHECK(Ring::Map(-1, &why) == nullptr);
  }
  SECTION("memory that has no room for a header") {
    const int fd = Memory(100, true);
    CHECK(Ring::Map(fd, &why) == nullptr);
    CHECK(std::string(why) == "the ring is too small");
    close(fd);
  }
  SECTION("a header that does not fit") {
    const auto memory = *collector::RingMemory::Create({.page_count = 4, .facts_bytes = 4096});
    wire::RingHeader& header = memory->header();
    Ring* const fits = Ring::Map(memory->descriptor(), &why);
    REQUIRE(fits != nullptr);
    Ring::Unmap(fits);
    const int what = GENERATE(0, 1, 2, 3, 4, 5);
    switch (what) {
      case 0: header.magic ^= 1; break;
      case 1: ++header.protocol; break;
      case 2: header.page_bytes *= 2; break;
      case 3: header.page_count = 5; break;
      case 4: header.page_count = 0; break;
      default: header.facts_bytes = wire::kMaxFactsBytes + 8; break;
    }
    CHECK(Ring::Map(memory->descriptor(), &why) == nullptr);
    CHECK(std::string(why) == "the ring's geometry is not of this version");
  }
}

}  // namespace nanolane::inject
