#include "libs/base/clock.h"

#include <ctime>

namespace nanolane::base {
namespace {

int64_t Read(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

int64_t SystemClock::UnixNanos() const { return Read(CLOCK_REALTIME); }
int64_t SystemClock::MonotonicNanos() const { return Read(CLOCK_MONOTONIC); }

}  // namespace nanolane::base
