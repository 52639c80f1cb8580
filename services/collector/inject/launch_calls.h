// The callback of API calls: launches with their own start, end and thread, synchronizations, and
// the records of events that waits refer to.
//
// It runs on the application's threads, at the enter and exit of the calls of CallbackTable. Of
// nested calls (the runtime's and the driver's below it, which share a correlation id) the
// outermost counts. No lock, no allocation, no system call but the clock's.
#pragma once

#include <cstdint>

#include "services/collector/inject/callback_table.h"
#include "services/collector/inject/cupti_library.h"
#include "services/collector/inject/ring_writer.h"

namespace nanolane::inject {

// For cuptiSubscribe. Before it, PrepareLaunchCalls.
void CUPTIAPI OnApiCall(void* unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                        const void* data);

// What the callback looks at; both must outlive the subscription. Forgets the capture before.
void PrepareLaunchCalls(const CuptiLibrary& cupti, const CallbackTable& table);

// The lowest correlation id entered since BeginCapture; 0: none.
uint32_t FirstCorrelation();
// The highest; 0: none. Exact once CloseCapture has returned.
uint32_t LastCorrelation();
// Of the calls that CUPTI has told the beginning of and not the end, whether or not a capture is in
// progress: for how long the first of them has been under way; 0: there is none.
int64_t LongestCallUnderWay(int64_t now_ns);
// Once CUPTI is detached: it does not tell their ends.
void ForgetCallsUnderWay();
// Writes the waits that threads are still in, up to `off_ns`, as their threads'. Once CloseCapture
// has returned.
void WriteOpenWaits(const CaptureUse& use, int64_t off_ns);

// Whether the call was entered while the capture was being turned on.
bool WasEarly(uint32_t correlation);
// Kernel launches (not of graphs) of the capture that succeeded.
uint64_t KernelLaunches(uint64_t capture);

}  // namespace nanolane::inject
