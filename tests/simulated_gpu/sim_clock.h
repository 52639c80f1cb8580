// The simulated GPU's time. It runs on CLOCK_MONOTONIC; what CUPTI's clients see is that time
// moved to CLOCK_REALTIME, or to the ticks of a timestamp callback. Thread-safe.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace nanolane::sim {

int64_t MonotonicNow();

// Sleeps until then; returns at once if that is past.
void WaitUntil(int64_t monotonic_ns);

// Measures anew how far CLOCK_REALTIME is from CLOCK_MONOTONIC.
void AlignClientClock();

// In CLOCK_REALTIME or the callback's ticks.
uint64_t ToClientTime(int64_t monotonic_ns);

void SetTimestampCallback(CUpti_TimestampCallbackFunc callback);

// Ticks of a tool that set a timestamp callback: 5 per 2 ns of CLOCK_MONOTONIC.
uint64_t ForeignTicks();

}  // namespace nanolane::sim
