// Into which stream a CUDA event was recorded last: so that a wait for an event can be shown beside
// that stream. Fixed size, lock-free; what does not fit is not known. Thread-safe.
#pragma once

#include <cstdint>

namespace nanolane::inject {

void NoteEventRecorded(const void* event, uint32_t stream);
// -1: not known.
int64_t StreamOfEvent(const void* event);
void ForgetEvents();

}  // namespace nanolane::inject
