// CUPTI's activity records: which kinds are on, work that has been recorded but not delivered, and
// the client's buffers.
//
// Every thread puts its work into a list of its own. A record is complete once the clock has passed
// its end; complete ones go into the buffers that the client gives, when a list has grown long (the
// delivering thread does that) or when the client flushes. As with CUPTI, two buffers are open at a
// time and records come out of order within and across them.
//
// Thread-safe. The client's buffer callbacks are called while the delivery's lock is held: they may
// not flush. Lock order: delivery, list of a thread.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <cstdint>

#include "tests/simulated_gpu/sim_device.h"

namespace nanolane::sim {

inline constexpr size_t kMaxKinds = 64;
inline constexpr size_t kMaxCallbackIds = 1024;

// Everything that any record of ours can hold; what does not apply is 0.
struct Work {
  CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_INVALID;
  uint32_t correlation = 0;
  int64_t start_ns = 0;  // CLOCK_MONOTONIC; 0 with end_ns 0: the record has no time
  int64_t end_ns = 0;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t graph = 0;
  uint64_t graph_node = 0;
  uint64_t bytes = 0;
  uint64_t address = 0;
  union {
    struct {
      const char* name;
      Dim3 grid;
      Dim3 block;
      uint32_t shared_bytes;
    } kernel;
    struct {
      uint32_t source_device;
      uint32_t destination_device;
      uint8_t copy_kind;
      uint8_t source_kind;
      uint8_t destination_kind;
    } copy;
    struct {
      uint32_t value;
    } set;
    struct {
      uint64_t pool;
      uint64_t pool_used;
      uint64_t pool_size;
      CUpti_ActivityMemoryOperationType operation;
    } memory;
    struct {
      uint64_t sync_id;
      uint32_t event;
      uint32_t type;  // CUpti_ActivitySynchronizationType
    } sync;
    struct {
      uint32_t cbid;
      uint32_t thread;
      uint32_t result;
    } api;
  };
  bool is_async = false;

  Work() : memory{} {}
};

namespace activity {

// Read by every launch, hence without any lock.
extern std::atomic<bool> kinds_on[kMaxKinds];
inline bool IsOn(CUpti_ActivityKind kind) { return kinds_on[kind].load(std::memory_order_relaxed); }
bool IsApiOn(CUpti_ActivityKind kind, uint32_t cbid);

void Record(const Work& work);

// How often kinds went from none to some since the start, finalizations included.
int64_t Sessions();

CUptiResult RegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                              CUpti_BuffersCallbackCompleteFunc completed);
CUptiResult Enable(CUpti_ActivityKind kind, bool dump);
CUptiResult Disable(CUpti_ActivityKind kind);
CUptiResult EnableApi(CUpti_ActivityKind kind, uint32_t cbid, bool on);
CUptiResult FlushAll(bool forced);
CUptiResult NextRecord(uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record);
uint64_t TakeDropped();
void SetThreadIdType(CUpti_ActivityThreadIdType type);
uint32_t ThreadId();

// Hands all buffers back, forgets what is pending, and turns all kinds off.
void Finalize();

}  // namespace activity
}  // namespace nanolane::sim
