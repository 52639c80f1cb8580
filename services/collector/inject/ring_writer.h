// The library's side of the ring (wire.h): threads write records into pages of their own, without
// locks or system calls; facts are appended under a lock, rarely.
//
// A capture in progress is published by PublishCapture. A thread looks at it only within a
// CaptureUse; RetractCapture waits until none is left, so that the ring can be unmapped after it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "services/collector/inject/spin_lock.h"
#include "services/collector/inject/thread_state.h"
#include "services/collector/inject/wire.h"

namespace nanolane::inject {

// A mapped ring. Made by the agent alone.
class Ring {
 public:
  // Maps `fd`, which stays the caller's. Null with `why` set when its seals, size or geometry are
  // not those of a ring.
  static Ring* Map(int fd, const char** why);
  // Unmaps it and gives the object back.
  static void Unmap(Ring* ring);

  wire::RingHeader& header() { return *header_; }
  uint64_t number() const { return number_; }  // of the capture, from 1, in this process

  // Room for a record in the thread's page; null: no page is free. What is written there appears
  // with Publish. `kind` is a bit number of Kinds.
  void* Reserve(ThreadState& state, size_t bytes);
  void Publish(ThreadState& state, size_t bytes, uint32_t kind);

  // The thread that takes what CUPTI has: some pages are its alone, so that threads with a page
  // each cannot keep it from all.
  void SetPrivileged(const ThreadState* thread) { privileged_ = thread; }

  void CloseOwnPage(ThreadState& state);
  // Once no thread uses the capture any more: closes the pages of all of them.
  void CloseAllPages();

  // Appends an entry of `bytes` (a multiple of 8, FactHeader first). False: no room.
  bool AppendFact(const void* entry, size_t bytes, const void* text = nullptr,
                  size_t text_bytes = 0);

  void CountLoss(wire::LossReason reason, uint32_t kind, uint64_t count = 1) {
    if (count == 0) return;
    header_->lost[static_cast<size_t>(reason)][kind].fetch_add(count, std::memory_order_relaxed);
  }

 private:
  bool ClaimPage(ThreadState& state);
  void CountProduced(ThreadState& state);
  wire::PageHeader& PageHeaderAt(uint32_t page) { return page_headers_[page]; }

  const ThreadState* privileged_ = nullptr;
  std::atomic<int64_t> full_until_ns_{0};  // no look for a page before: a look costs a scan
  char* base_ = nullptr;
  size_t bytes_ = 0;
  uint64_t number_ = 0;
  uint32_t page_count_ = 0;
  uint32_t facts_bytes_ = 0;
  wire::RingHeader* header_ = nullptr;
  wire::PageHeader* page_headers_ = nullptr;
  char* facts_ = nullptr;
  char* pages_ = nullptr;
  SpinLock facts_lock_;
  uint64_t facts_used_ = 0;
};

// What threads record into.
struct CaptureInProgress {
  Ring* ring;
  uint32_t kinds;  // Kinds that are on
  // Nothing that begins before it is recorded; INT64_MAX while it is being turned on.
  std::atomic<int64_t> on_ns;
  // Nothing that begins from here on is recorded. Threads check it themselves, so that a capture
  // ends by its deadline even if the agent is stuck within CUPTI.
  std::atomic<int64_t> ends_ns;

  bool Includes(int64_t now_ns) const {
    return now_ns >= on_ns.load(std::memory_order_relaxed) && !HasEnded(now_ns);
  }
  bool HasEnded(int64_t now_ns) const { return now_ns >= ends_ns.load(std::memory_order_relaxed); }
};

// Both edges of a capture are told this long before they come, so that no thread compares its time
// with an edge that it cannot know yet.
inline constexpr int64_t kNoticeNs = 20'000;

// Threads see it, and record nothing before BeginCapture.
void PublishCapture(Ring* ring, uint32_t kinds);
// What begins in [on_ns, ends_ns) is recorded.
void BeginCapture(int64_t on_ns, int64_t ends_ns);
// Nothing that begins after `off_ns` is recorded; when it returns true, no thread is within a use
// that began before.
bool CloseCapture(int64_t off_ns, int64_t patience_ns);
// Afterwards no thread uses it. False: a thread has stayed in it for `patience_ns`; then the ring
// must not be unmapped.
bool RetractCapture(int64_t patience_ns);
// Uses that were refused since the last call, for want of a thread state.
uint64_t TakeRefusedUses();
// Whether a thread is within a use that began under a capture before.
bool AnyUse();
// Whether there is one: the flag test that a dormant hook costs.
bool CaptureIsOn();

// A thread's use of the capture in progress. One within another (from a signal handler, for one) is
// refused and counted: it would write into the room of the outer one.
class CaptureUse {
 public:
  CaptureUse();
  ~CaptureUse();
  CaptureUse(const CaptureUse&) = delete;
  CaptureUse& operator=(const CaptureUse&) = delete;

  explicit operator bool() const { return capture_ != nullptr; }
  const CaptureInProgress* operator->() const { return capture_; }
  ThreadState& thread() const { return *state_; }

  // Writes one record: `fill` gets zeroed room of its type with type and size set. What has no room
  // is counted as lost.
  template <typename Record, typename Fill>
  void Write(wire::RecordType type, uint32_t kind, Fill fill) const {
    if (!TryWrite<Record>(type, kind, fill)) {
      capture_->ring->CountLoss(wire::LossReason::kRingFull, kind);
    }
  }

  // As Write; false, and not counted, where there is no room.
  template <typename Record, typename Fill>
  bool TryWrite(wire::RecordType type, uint32_t kind, Fill fill) const {
    void* room = capture_->ring->Reserve(*state_, sizeof(Record));
    if (room == nullptr) return false;
    auto* record = static_cast<Record*>(room);
    __builtin_memset(room, 0, sizeof(Record));
    record->header.type = static_cast<uint16_t>(type);
    record->header.size = sizeof(Record);
    fill(*record);
    capture_->ring->Publish(*state_, sizeof(Record), kind);
    return true;
  }

 private:
  ThreadState* state_;
  const CaptureInProgress* capture_ = nullptr;
};

// While it lives, what the calling thread writes counts as the other thread's.
class WritingAs {
 public:
  WritingAs(const CaptureUse& use, uint32_t thread);
  ~WritingAs();
  WritingAs(const WritingAs&) = delete;
  WritingAs& operator=(const WritingAs&) = delete;

 private:
  const CaptureUse& use_;
  const uint32_t own_thread_;
};

// Bit numbers of wire::Kinds, for counters.
enum KindSlot : uint32_t {
  kSlotKernel = 0,
  kSlotMemcpy = 1,
  kSlotMemset = 2,
  kSlotSync = 3,
  kSlotNvtx = 4,
  kSlotMemory = 5,
  kSlotFrameworkMemory = 6,
  kSlotLaunch = 7,
};

void ClosePageOfEndingThread(ThreadState& state);
void ResetCaptureAfterFork();

}  // namespace nanolane::inject
