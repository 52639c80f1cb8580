#include "services/collector/inject/event_streams.h"

#include <cstdint>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"

namespace nanolane::inject {
namespace {

const void* Event(uint64_t number) {
  return reinterpret_cast<const void*>(0x7F00'0000'0000ULL + number * 64);
}

}  // namespace

TEST_CASE("the stream of an event is the one it was recorded into last") {
  ForgetEvents();
  CHECK(StreamOfEvent(Event(1)) == -1);
  NoteEventRecorded(Event(1), 7);
  NoteEventRecorded(Event(2), 0);
  CHECK(StreamOfEvent(Event(1)) == 7);
  CHECK(StreamOfEvent(Event(2)) == 0);
  NoteEventRecorded(Event(1), 13);
  CHECK(StreamOfEvent(Event(1)) == 13);
  ForgetEvents();
  CHECK(StreamOfEvent(Event(1)) == -1);
}

TEST_CASE("no event is in no stream") {
  ForgetEvents();
  NoteEventRecorded(nullptr, 3);
  CHECK(StreamOfEvent(nullptr) == -1);
}

TEST_CASE("of more events than fit each is right or not known") {
  ForgetEvents();
  constexpr uint32_t kEvents = 60'000;
  for (uint32_t i = 0; i < kEvents; ++i) NoteEventRecorded(Event(i), i);
  uint32_t known = 0;
  for (uint32_t i = 0; i < kEvents; ++i) {
    const int64_t stream = StreamOfEvent(Event(i));
    if (stream == -1) continue;
    REQUIRE(stream == i);
    ++known;
  }
  CHECK(known > 20'000);
  CHECK(known <= 1U << 15);
  ForgetEvents();
}

TEST_CASE("threads that record events of their own do not mix them up") {
  ForgetEvents();
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (uint32_t i = 0; i < 2'000; ++i) NoteEventRecorded(Event(t * 2'000 + i), t);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t i = 0; i < 8'000; ++i) REQUIRE(StreamOfEvent(Event(i)) == i / 2'000);
  ForgetEvents();
}

}  // namespace nanolane::inject
