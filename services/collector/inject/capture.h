// One capture: CUPTI turned on and off again. The agent's thread alone.
//
// On: subscribe, callbacks, then activity kinds, kernels last, so that every kernel's launch is
// seen. While on: Tick every so often takes what CUPTI has. Off: nothing new begins; what was
// launched before is waited for, within a bound; then CUPTI is detached from the process.
//
// How it is detached was found by experiment (docs/adr/0007-detaching-cupti.md): callbacks stay on
// until cuptiFinalize takes everything away at once. Turned off before, CUPTI tells a thread within
// a call the beginning of it and never the end; then it damages the heap, and without cuptiFinalize
// the thread's streams give no records in later captures. What it frees is kept for those who still
// return through it (held_frees.h), and it is done when no call has been under way for long.
#pragma once

#include <cstddef>
#include <cstdint>

#include "services/collector/inject/activity_decoder.h"
#include "services/collector/inject/callback_table.h"
#include "services/collector/inject/clock_map.h"
#include "services/collector/inject/ring_writer.h"

namespace nanolane::inject {

struct Refusal {
  wire::RefusalCode code = wire::RefusalCode::kUnspecified;
  char text[sizeof(wire::Refused::text)] = {};
};

class Capture {
 public:
  // `yield` is called on a thread that begins to record with another tool: it ends the capture.
  // `at_exit` at the end of the process.
  Capture(void (*yield)(), void (*at_exit)()) : yield_(yield), at_exit_(at_exit) {}

  // False: refused, everything is as before. The ring stays the caller's.
  bool Start(Ring* ring, const wire::Start& start, Refusal* refusal);

  // Takes what CUPTI has by now: every kTickNs. `flush`: asks CUPTI for buffers that are not full.
  void Tick(bool flush);
  // Whether records wait for room in the ring: then Tick(false) soon.
  bool waits_for_room() const { return waits_for_room_; }
  // CUPTI has ended by itself.
  bool HasFailed() const;

  // Ends it. `drain_ns`: how long launched work is waited for. CUPTI stays attached.
  void Stop(wire::StopReason reason, int64_t drain_ns);
  // After Stop: gives CUPTI back. False: throughout `patience_ns` there were calls under way that
  // take long; ask again in a while. CUPTI waits for kernels that run meanwhile, and launches with
  // it, so it is not done amid a wait for one.
  bool Detach(int64_t patience_ns);
  bool is_attached() const { return is_attached_; }
  // Whether the ring may be unmapped after Stop: no thread is stuck in a use of it.
  bool ring_is_free() const { return ring_is_free_; }

  int64_t on_ns() const { return on_ns_; }
  int64_t ends_ns() const { return ends_ns_; }
  uint32_t kinds_on() const { return kinds_on_; }
  uint32_t cupti_version() const { return cupti_ != nullptr ? cupti_->version : 0; }

 private:
  bool Attach(Refusal* refusal);
  bool Subscribe(Refusal* refusal);
  bool EnableKinds(Refusal* refusal);
  void DisableKinds();
  void SetBuffersZeroed(bool are_zeroed);
  void WriteDeviceFacts();
  void WriteMemoryLevels();
  void WriteClockFact();
  void WriteNote(const char* text);
  void NoteWhatIsMissing();
  void LookForTorch();
  void CountDropped(bool ask_cupti);
  void Drain(int64_t drain_ns);
  void DecodeTheRest(int64_t patience_ns);
  bool WaitForShortCalls(int64_t patience_ns);

  void (*const yield_)();
  void (*const at_exit_)();
  bool exit_noted_ = false;
  const CuptiLibrary* cupti_ = nullptr;
  CallbackTable table_;
  bool table_filled_ = false;
  ClockMap clock_;
  ActivityDecoder decoder_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  Ring* ring_ = nullptr;
  uint32_t kinds_asked_ = 0;
  uint32_t kinds_on_ = 0;
  int64_t on_ns_ = 0;
  int64_t ends_ns_ = 0;
  int64_t next_slow_ns_ = 0;  // of clock facts and looking for PyTorch
  uint64_t dropped_ = 0;      // by CUPTI, in this capture
  bool waits_for_room_ = false;
  bool ring_is_free_ = true;
  bool is_attached_ = false;
};

inline constexpr int64_t kTickNs = 100'000'000;
// Until a moment comes at which CUPTI can be detached: at each try, and before a new capture.
inline constexpr int64_t kCalmPatienceNs = 20'000'000;
inline constexpr int64_t kCalmPatienceAtStartNs = 2'000'000'000;

}  // namespace nanolane::inject
