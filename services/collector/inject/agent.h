// The library's one thread: waits for the collector's commands, turns captures on and off, ends
// them at their deadline whether or not a collector is there, and asleep while there is nothing to
// do.
#pragma once

#include <cstdint>

namespace nanolane::inject {

// Starts the thread, once per process (again in a forked child). Never fails loudly: without it the
// process runs as if the library were not there.
void StartAgent();

// Before the process ends: a capture in progress is ended and what CUPTI has is taken. Returns when
// that is done, after 2.5 s at the latest; from then on the agent leaves CUPTI alone. May be called
// more than once.
void EndAgentBeforeExit();

// In a forked child: there is no agent.
void ResetAgentAfterFork();

}  // namespace nanolane::inject
