// The clocks that the library reads.
#pragma once

#include <ctime>

#include <cstdint>

namespace nanolane::inject {

inline int64_t ReadClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline int64_t MonotonicNs() { return ReadClock(CLOCK_MONOTONIC); }
inline int64_t RealtimeNs() { return ReadClock(CLOCK_REALTIME); }

}  // namespace nanolane::inject
