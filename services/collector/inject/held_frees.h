// What libcupti frees while it is detached from the process, kept for a while.
//
// cuptiFinalize frees tables that CUPTI's own code on application threads goes through at the end
// of every CUDA call whose beginning it saw, and does not wait for those calls. Measured with
// CUPTI 13.0 and a heap that unmaps what is freed: the threads read, and write, memory that is no
// more. Kept until they have left, it harms nobody.
//
// The agent's thread alone calls these.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nanolane::inject {

// How long what was freed is kept: for longer than any call takes that was under way, since CUPTI
// is detached only when none has been for long.
inline constexpr int64_t kHoldFreesNs = 5'000'000'000;

// From here on nothing is freed by the library that `code` is a function of. False: its calls of
// free() cannot be redirected.
bool BeginHoldingFrees(const void* code);
// The library frees again. What it freed meanwhile is freed at `until_ns` (CLOCK_MONOTONIC), or
// sooner when a few more such generations are kept.
void EndHoldingFrees(int64_t until_ns);
// Frees what has been kept long enough.
void FreeHeld(int64_t now_ns);
// When FreeHeld has something to do; INT64_MAX: never.
int64_t NextFreeing();
void ResetHeldFreesAfterFork();

}  // namespace nanolane::inject
