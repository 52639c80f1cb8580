// Buffers that CUPTI fills with activity records: a fixed number of them, handed out zeroed (CUPTI
// would zero them on the application's threads) and taken back in order of completion.
//
// Where all of them wait to be decoded, a request gets none: CUPTI then drops records and counts
// them; before 12.9 it cannot, so it gets one that is thrown away when it comes back, counted by an
// estimate. Thread-safe; what is called by CUPTI takes a spin lock and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nanolane::inject {

inline constexpr size_t kBufferBytes = 512 << 10;
inline constexpr uint32_t kMaxBuffers = 128;  // 64 MiB

struct CompletedBuffer {
  uint8_t* memory = nullptr;
  size_t valid_bytes = 0;
};

// Before a capture: some buffers ready, so that no application thread waits for the kernel to give
// memory. `null_is_safe`: CUPTI takes "no buffer" for an answer. What a capture before has left
// complete is thrown away.
void PrepareBuffers(bool null_is_safe);
uint8_t* TakeBuffer();
void CompleteBuffer(uint8_t* memory, size_t valid_bytes);

// The oldest that is complete. False: none.
bool NextCompleted(CompletedBuffer* buffer);
// When its records have been read.
void RecycleBuffer(const CompletedBuffer& buffer);
// Records that were thrown away since the last call, estimated.
uint64_t TakeThrownAway();
// After a capture: what has been completed on the way is thrown away and counted, what CUPTI still
// holds stays, the rest is given back.
void FreeBuffers();
// Once CUPTI is detached: what it holds now is its own, and unmapped should it come back.
void ForgetHeldBuffers();
void ResetBuffersAfterFork();

}  // namespace nanolane::inject
