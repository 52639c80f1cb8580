#include "libs/trace/model.h"

#include <catch2/catch.hpp>
#include <limits>

namespace nanolane::trace {
namespace {

TEST_CASE("an event ends after its duration, never before its start nor beyond int64") {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
  CHECK(EndOf(10, 5) == 15);
  CHECK(EndOf(10, 0) == 10);
  CHECK(EndOf(10, -5) == 10);
  CHECK(EndOf(kLeast, kGreatest) == -1);
  CHECK(EndOf(kLeast, kLeast) == kLeast);
  CHECK(EndOf(kGreatest - 5, 5) == kGreatest);
  CHECK(EndOf(kGreatest - 5, 6) == kGreatest);
  CHECK(EndOf(kGreatest, kGreatest) == kGreatest);
}

}  // namespace
}  // namespace nanolane::trace
