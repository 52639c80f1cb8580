// What the library keeps of each application thread: the ring page that it fills, the launch call
// that it is in, its open NVTX ranges.
//
// States come from a fixed pool of kMaxThreads and go back to it when their thread ends; they are
// never unmapped, so that the agent may look through all of them at any time. All but the atomics
// belong to the owning thread; what a capture keeps there (page, counts, open ranges) is touched
// within uses of that capture alone, and by the agent once there are none, even where the thread
// has ended and another has taken the state over.
#pragma once

#include <atomic>
#include <cstdint>

#include "services/collector/inject/wire.h"

namespace nanolane::inject {

inline constexpr uint32_t kMaxThreads = 4096;
inline constexpr uint32_t kMaxNvtxDepth = 128;
inline constexpr uint32_t kCachedNames = 128;

struct OpenRange {
  int64_t start_ns;
  const void* domain_handle;  // null: the default domain
  uint32_t name;
  uint32_t domain;  // fact id of its name
  uint32_t color;
  uint32_t category;
};

// What a synchronizing call waits for, as wire::SyncRecord has it.
struct OpenWait {
  int64_t stream;
  int64_t event_stream;
  uint32_t context;
  int32_t device;
  uint8_t type;
};

struct ThreadState {
  std::atomic<uint32_t> taken;  // 1: belongs to a living thread
  uint32_t thread;              // operating-system id
  // > 0 while the thread uses the capture in progress (see CaptureUse).
  std::atomic<uint32_t> busy;

  // The page it fills; of the capture with this number.
  uint64_t capture;
  uint32_t page;
  uint32_t used;
  bool has_page;
  uint32_t produced[wire::kKindSlots];  // records in the page, by kind

  // The thread's last names, of the capture with the number in each.
  struct Name {
    uint64_t capture;
    uint64_t hash;
    uint32_t id;
  };
  Name names[kCachedNames];

  // The outermost API call that it is in.
  uint32_t open_correlation;
  uint16_t open_cbid;
  uint8_t open_domain;
  bool call_open;
  uint64_t open_capture;  // number of the capture in which it was entered
  int64_t call_start_ns;
  // The wait that it is in. 1: not recorded yet; whoever takes it does so: the thread when the call
  // returns, or the agent when the capture ends before.
  std::atomic<uint32_t> open_wait;
  OpenWait wait;

  std::atomic<uint32_t> last_correlation;  // of the last call that it entered

  // The outermost call that CUPTI has told the beginning of and not the end, whether or not a
  // capture is in progress; 0: none. See LongestCallUnderWay.
  std::atomic<uint32_t> under_way;
  std::atomic<int64_t> under_way_since_ns;
  uint32_t under_way_depth;

  // Kernel launches that succeeded in the capture with the number `counted_capture`.
  std::atomic<uint64_t> counted_capture;
  std::atomic<uint64_t> kernel_launches;

  // Open NVTX ranges of `nvtx_thread`, of the capture with the number `nvtx_capture`; published by
  // `nvtx_depth`. Whoever writes them takes them by setting that to 0.
  std::atomic<uint64_t> nvtx_capture;
  std::atomic<uint32_t> nvtx_depth;
  uint32_t nvtx_thread;
  uint32_t nvtx_lost_depth;  // pushes beyond kMaxNvtxDepth whose pops have not come
  OpenRange nvtx[kMaxNvtxDepth];
};

// The calling thread's; null when there are more threads than kMaxThreads, or the thread is ending.
ThreadState* CurrentThread();

// Calls `visit` for every state that a thread has ever had.
template <typename Visit>
void ForEachThread(Visit visit);

// The pool, for ForEachThread; entries may be null.
ThreadState* ThreadAt(uint32_t index);
uint32_t ThreadsEver();

template <typename Visit>
void ForEachThread(Visit visit) {
  const uint32_t count = ThreadsEver();
  for (uint32_t i = 0; i < count; ++i) {
    ThreadState* state = ThreadAt(i);
    if (state != nullptr) visit(*state);
  }
}

// In a forked child: only the calling thread is left.
void ResetThreadsAfterFork();

}  // namespace nanolane::inject
