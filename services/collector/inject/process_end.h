// That the process is ending, as far as the agent has to know: it gets a little time to end a
// capture, and afterwards keeps its hands off CUPTI, whose own destructors run then.
#pragma once

namespace nanolane::inject {

void NoteProcessEnds();
bool ProcessEnds();

// From now on the agent makes no call into CUPTI.
void TakeHandsOff();
// Before such calls: does not return once hands are off.
void ParkIfHandsOff();

void ResetProcessEndAfterFork();

}  // namespace nanolane::inject
