#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "libs/base/bounded_queue.h"
#include "libs/base/number_text.h"
#include "libs/base/time_text.h"

namespace nanolane::base {
namespace {

TEST_CASE("durations are written with a unit and at most three decimals") {
  CHECK(FormatDuration(0) == "0 ns");
  CHECK(FormatDuration(999) == "999 ns");
  CHECK(FormatDuration(312'416) == "312.416 µs");
  CHECK(FormatDuration(1'500'000) == "1.5 ms");
  CHECK(FormatDuration(-2'000'000'000) == "-2 s");
  CHECK(FormatDuration(std::numeric_limits<int64_t>::min()) == "-9223372036.854 s");
  CHECK(FormatExactNanos(208'512'984) == "208 512 984 ns");
  CHECK(FormatExactNanos(-7) == "-7 ns");
}

TEST_CASE("counts are written with their digits in groups of three") {
  CHECK(GroupedCount(0) == "0");
  CHECK(GroupedCount(999) == "999");
  CHECK(GroupedCount(1'000) == "1 000");
  CHECK(GroupedCount(123'456) == "123 456");
  CHECK(GroupedCount(1'234'567) == "1 234 567");
  CHECK(GroupedCount(std::numeric_limits<uint64_t>::max()) == "18 446 744 073 709 551 615");
  CHECK(FormatExactNanos(std::numeric_limits<int64_t>::min()) == "-9 223 372 036 854 775 808 ns");
}

TEST_CASE("durations are read exactly") {
  CHECK(*ParseDuration("1.2ms") == 1'200'000);
  CHECK(*ParseDuration("0.000000001s") == 1);
  CHECK(*ParseDuration("3us") == 3'000);
  CHECK(*ParseDuration("3 µs") == 3'000);
  CHECK(*ParseDuration("-1.5us") == -1'500);
  CHECK(*ParseDuration("2h") == 7'200'000'000'000);
  CHECK(*ParseDuration("1m30s") == 90'000'000'000);
  CHECK(*ParseDuration("-1h1.5s2ns") == -3'601'500'000'002);
  for (const char* bad :
       {"", "ms", "1", "1.2.3ms", "0.5ns", "1e3ms", "99999999999999999999s", "9999999999s", "30s1m",
        "1s1s", "1m30", "1m-30s", "9000000000s900000000000000us"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseDuration(bad).ok());
  }
}

TEST_CASE("ranges need two ordered times") {
  CHECK(ParseRange("1.2ms..3ms")->from_ns == 1'200'000);
  CHECK(ParseRange("1.2ms..3ms")->to_ns == 3'000'000);
  CHECK_FALSE(ParseRange("3ms..1ms").ok());
  CHECK_FALSE(ParseRange("3ms").ok());
  CHECK_FALSE(ParseRange("..3ms").ok());
}

TEST_CASE("a bounded queue hands over every item once, in order per producer") {
  constexpr int kProducers = 3;
  constexpr int kItems = 2'000;
  BoundedQueue<std::pair<int, int>> queue(16);
  std::vector<std::thread> threads;
  for (int producer = 0; producer < kProducers; ++producer) {
    threads.emplace_back([&queue, producer] {
      for (int i = 0; i < kItems; ++i) {
        if (!queue.Push({producer, i})) std::abort();
      }
    });
  }
  std::vector<int> next(kProducers, 0);
  for (int i = 0; i < kProducers * kItems; ++i) {
    const auto item = queue.Pop();
    REQUIRE(item.has_value());
    CHECK(item->second == next[static_cast<size_t>(item->first)]++);
  }
  for (std::thread& thread : threads) thread.join();
  queue.Close();
  CHECK_FALSE(queue.Pop().has_value());
}

TEST_CASE("a full queue refuses TryPush, a closed one refuses Push and can be drained") {
  BoundedQueue<int> queue(1);
  int item = 1;
  CHECK(queue.TryPush(item));
  CHECK_FALSE(queue.TryPush(item));
  queue.Close();
  CHECK_FALSE(queue.Push(2));
  CHECK(queue.Pop() == 1);
  CHECK_FALSE(queue.TryPop().has_value());
}

}  // namespace
}  // namespace nanolane::base
