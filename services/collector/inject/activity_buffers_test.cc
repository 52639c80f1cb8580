#include "services/collector/inject/activity_buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"

namespace nanolane::inject {
namespace {

// What the estimate takes a record for.
constexpr size_t kRecordBytes = 216;

bool IsZero(const uint8_t* memory, size_t bytes) {
  return std::all_of(memory, memory + bytes, [](uint8_t byte) { return byte == 0; });
}

bool IsMapped(const uint8_t* memory) {
  unsigned char resident = 0;
  return mincore(const_cast<uint8_t*>(memory), 1, &resident) == 0;
}

bool IsResident(const uint8_t* memory) {
  unsigned char resident = 0;
  return mincore(const_cast<uint8_t*>(memory), 1, &resident) == 0 && (resident & 1) != 0;
}

std::vector<uint8_t*> TakeAll() {
  std::vector<uint8_t*> taken;
  for (uint32_t i = 0; i < kMaxBuffers; ++i) {
    uint8_t* const buffer = TakeBuffer();
    REQUIRE(buffer != nullptr);
    taken.push_back(buffer);
  }
  return taken;
}

// Takes back whatever is complete, and frees it.
size_t Empty() {
  size_t count = 0;
  for (CompletedBuffer buffer; NextCompleted(&buffer); ++count) RecycleBuffer(buffer);
  FreeBuffers();
  return count;
}

}  // namespace

TEST_CASE("buffers come zeroed, also the second time") {
  PrepareBuffers(true);
  uint8_t* const first = TakeBuffer();
  REQUIRE(IsZero(first, kBufferBytes));
  memset(first, 0xAB, 5'000);
  CompleteBuffer(first, 5'000);
  CompletedBuffer buffer;
  REQUIRE(NextCompleted(&buffer));
  CHECK(buffer.memory == first);
  CHECK(buffer.valid_bytes == 5'000);
  RecycleBuffer(buffer);
  CHECK_FALSE(NextCompleted(&buffer));
  bool again = false;
  std::vector<uint8_t*> taken = TakeAll();
  for (uint8_t* const memory : taken) {
    again = again || memory == first;
    REQUIRE(IsZero(memory, kBufferBytes));
  }
  CHECK(again);
  for (uint8_t* const memory : taken) CompleteBuffer(memory, 0);
  CHECK(Empty() == kMaxBuffers);
}

TEST_CASE("buffers are read in the order in which they were completed") {
  PrepareBuffers(true);
  std::vector<uint8_t*> taken;
  for (int i = 0; i < 10; ++i) taken.push_back(TakeBuffer());
  const std::vector<size_t> order = {3, 9, 0, 1, 8, 2, 7, 4, 6, 5};
  for (const size_t i : order) CompleteBuffer(taken[i], i + 1);
  for (const size_t i : order) {
    CompletedBuffer buffer;
    REQUIRE(NextCompleted(&buffer));
    CHECK(buffer.memory == taken[i]);
    CHECK(buffer.valid_bytes == i + 1);
    // The same until it is recycled.
    CompletedBuffer again;
    REQUIRE(NextCompleted(&again));
    CHECK(again.memory == buffer.memory);
    RecycleBuffer(buffer);
  }
  CHECK(Empty() == 0);
}

TEST_CASE("a CUPTI that takes no for an answer gets no buffer beyond the bound") {
  PrepareBuffers(true);
  const std::vector<uint8_t*> taken = TakeAll();
  CHECK(std::set<uint8_t*>(taken.begin(), taken.end()).size() == kMaxBuffers);
  CHECK(TakeBuffer() == nullptr);
  CompleteBuffer(nullptr, 100);
  CHECK(TakeThrownAway() == 0);
  for (uint8_t* const memory : taken) CompleteBuffer(memory, 1);
  // All of them wait.
  CHECK(TakeBuffer() == nullptr);
  CHECK(Empty() == kMaxBuffers);
  CHECK(TakeThrownAway() == 0);
}

TEST_CASE("an old CUPTI always gets one, and what came in too many is counted") {
  PrepareBuffers(false);
  const std::vector<uint8_t*> taken = TakeAll();
  uint8_t* const extra = TakeBuffer();
  REQUIRE(extra != nullptr);
  CHECK(std::count(taken.begin(), taken.end(), extra) == 0);
  CHECK(IsZero(extra, kBufferBytes));
  CompleteBuffer(extra, kRecordBytes * 10);
  CHECK(TakeThrownAway() == 10);
  CHECK(TakeThrownAway() == 0);
  uint8_t* const empty = TakeBuffer();
  CompleteBuffer(empty, 0);
  CHECK(TakeThrownAway() == 0);
  for (uint8_t* const memory : taken) CompleteBuffer(memory, 1);
  CHECK(Empty() == kMaxBuffers);
}

TEST_CASE("a buffer does not hold more than it has") {
  PrepareBuffers(true);
  CompleteBuffer(TakeBuffer(), kBufferBytes + 1);
  CompletedBuffer buffer;
  REQUIRE(NextCompleted(&buffer));
  CHECK(buffer.valid_bytes == kBufferBytes);
  CHECK(Empty() == 1);
}

TEST_CASE("a buffer that CUPTI still holds after a capture is its own until it comes back") {
  PrepareBuffers(true);
  uint8_t* const held = TakeBuffer();
  FreeBuffers();
  memset(held, 1, kBufferBytes);
  CHECK(TakeThrownAway() == 0);
  CHECK(IsMapped(held));
  CompleteBuffer(held, kRecordBytes * 3);
  CHECK(TakeThrownAway() == 0);
  FreeBuffers();
  CHECK_FALSE(IsMapped(held));
  CHECK(TakeThrownAway() == 3);
  CHECK(Empty() == 0);
}

TEST_CASE("the end of a capture gives all buffers back, and counts what nobody has read") {
  PrepareBuffers(true);
  std::vector<uint8_t*> taken;
  for (int i = 0; i < 20; ++i) taken.push_back(TakeBuffer());
  CompleteBuffer(taken[0], kRecordBytes * 2);
  CompleteBuffer(taken[1], kRecordBytes + 1);
  for (size_t i = 2; i < taken.size(); ++i) CompleteBuffer(taken[i], 0);
  FreeBuffers();
  CHECK(TakeThrownAway() == 4);
  CompletedBuffer buffer;
  CHECK_FALSE(NextCompleted(&buffer));
  for (const uint8_t* memory : taken) CHECK_FALSE(IsMapped(memory));
  // All places are free again.
  const std::vector<uint8_t*> all = TakeAll();
  CHECK(TakeBuffer() == nullptr);
  for (uint8_t* const memory : all) CompleteBuffer(memory, 0);
  CHECK(Empty() == kMaxBuffers);
}

TEST_CASE("a capture begins with six buffers, whatever the one before has left") {
  FreeBuffers();
  PrepareBuffers(true);
  uint8_t* const late = TakeBuffer();
  CompleteBuffer(late, kRecordBytes * 5);
  PrepareBuffers(true);
  CHECK(TakeThrownAway() == 5);
  CompletedBuffer buffer;
  CHECK_FALSE(NextCompleted(&buffer));
  // Those that are ready were touched already.
  std::vector<uint8_t*> taken;
  for (int i = 0; i < 6; ++i) {
    taken.push_back(TakeBuffer());
    CHECK(IsResident(taken.back()));
  }
  taken.push_back(TakeBuffer());
  CHECK_FALSE(IsResident(taken.back()));
  for (uint8_t* const memory : taken) CompleteBuffer(memory, 0);
  CHECK(Empty() == 7);
}

TEST_CASE("threads that fill buffers while one reads them lose none") {
  PrepareBuffers(true);
  std::atomic<uint64_t> filled{0};
  std::atomic<int> running{4};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 400; ++i) {
        uint8_t* const memory = TakeBuffer();
        if (memory == nullptr) continue;
        memory[0] = 1;
        CompleteBuffer(memory, 8);
        filled.fetch_add(1);
      }
      running.fetch_sub(1);
    });
  }
  uint64_t read = 0;
  CompletedBuffer buffer;
  for (bool last = false; !last;) {
    last = running.load() == 0;
    while (NextCompleted(&buffer)) {
      read += buffer.memory[0];
      RecycleBuffer(buffer);
    }
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(read == filled.load());
  CHECK(Empty() == 0);
}

}  // namespace nanolane::inject
