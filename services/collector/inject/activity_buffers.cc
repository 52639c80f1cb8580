#include "services/collector/inject/activity_buffers.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "services/collector/inject/spin_lock.h"

namespace nanolane::inject {
namespace {

constexpr uint32_t kReady = 6;
constexpr size_t kRecordBytes = 216;  // of a kernel, the most frequent record

enum class State : uint8_t { kNone, kIdle, kHeld, kComplete };

struct Buffer {
  uint8_t* memory;
  size_t valid_bytes;
  uint64_t order;  // of completion
  State state;
};

SpinLock g_lock;
Buffer g_buffers[kMaxBuffers];
uint64_t g_order = 0;
bool g_null_is_safe = true;
std::atomic<uint64_t> g_thrown_away{0};

uint8_t* Map() {
  void* memory =
      mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

Buffer* Find(const uint8_t* memory) {
  for (Buffer& buffer : g_buffers) {
    if (buffer.memory == memory && buffer.state != State::kNone) return &buffer;
  }
  return nullptr;
}

uint32_t CountState(State state) {
  SpinGuard guard(g_lock);
  uint32_t count = 0;
  for (const Buffer& buffer : g_buffers) count += buffer.state == state ? 1 : 0;
  return count;
}

Buffer* FindState(State state) {
  for (Buffer& buffer : g_buffers) {
    if (buffer.state == state) return &buffer;
  }
  return nullptr;
}

void CountThrownAway(size_t valid_bytes) {
  g_thrown_away.fetch_add((valid_bytes + kRecordBytes - 1) / kRecordBytes,
                          std::memory_order_relaxed);
}

void ThrowAwayCompleted() {
  CompletedBuffer buffer;
  while (NextCompleted(&buffer)) {
    CountThrownAway(buffer.valid_bytes);
    RecycleBuffer(buffer);
  }
}

}  // namespace

void PrepareBuffers(bool null_is_safe) {
  g_null_is_safe = null_is_safe;
  ThrowAwayCompleted();
  for (uint32_t ready = CountState(State::kIdle); ready < kReady; ++ready) {
    uint8_t* memory = Map();
    if (memory == nullptr) return;
    // Touched now, here.
    memset(memory, 0, kBufferBytes);
    SpinGuard guard(g_lock);
    Buffer* slot = FindState(State::kNone);
    if (slot == nullptr) {
      munmap(memory, kBufferBytes);
      return;
    }
    *slot = {.memory = memory, .valid_bytes = 0, .order = 0, .state = State::kIdle};
  }
}

uint8_t* TakeBuffer() {
  {
    SpinGuard guard(g_lock);
    if (Buffer* idle = FindState(State::kIdle)) {
      idle->state = State::kHeld;
      return idle->memory;
    }
    if (FindState(State::kNone) == nullptr && g_null_is_safe) return nullptr;
  }
  uint8_t* memory = Map();
  if (memory == nullptr) return nullptr;
  {
    SpinGuard guard(g_lock);
    if (Buffer* slot = FindState(State::kNone)) {
      *slot = {.memory = memory, .valid_bytes = 0, .order = 0, .state = State::kHeld};
      return memory;
    }
  }
  if (!g_null_is_safe) return memory;
  // Another thread has taken the last place meanwhile.
  munmap(memory, kBufferBytes);
  return nullptr;
}

void CompleteBuffer(uint8_t* memory, size_t valid_bytes) {
  if (memory == nullptr) return;
  {
    SpinGuard guard(g_lock);
    if (Buffer* buffer = Find(memory)) {
      buffer->valid_bytes = valid_bytes <= kBufferBytes ? valid_bytes : kBufferBytes;
      buffer->order = ++g_order;
      buffer->state = State::kComplete;
      return;
    }
  }
  CountThrownAway(valid_bytes);
  munmap(memory, kBufferBytes);
}

bool NextCompleted(CompletedBuffer* completed) {
  SpinGuard guard(g_lock);
  const Buffer* oldest = nullptr;
  for (const Buffer& buffer : g_buffers) {
    if (buffer.state != State::kComplete) continue;
    if (oldest == nullptr || buffer.order < oldest->order) oldest = &buffer;
  }
  if (oldest == nullptr) return false;
  *completed = {.memory = oldest->memory, .valid_bytes = oldest->valid_bytes};
  // The same buffer until it is recycled.
  return true;
}

void RecycleBuffer(const CompletedBuffer& completed) {
  memset(completed.memory, 0, completed.valid_bytes);
  SpinGuard guard(g_lock);
  if (Buffer* buffer = Find(completed.memory)) buffer->state = State::kIdle;
}

uint64_t TakeThrownAway() { return g_thrown_away.exchange(0, std::memory_order_relaxed); }

void FreeBuffers() {
  ThrowAwayCompleted();
  for (;;) {
    uint8_t* memory = nullptr;
    {
      SpinGuard guard(g_lock);
      Buffer* idle = FindState(State::kIdle);
      if (idle == nullptr) return;
      memory = idle->memory;
      *idle = {};
    }
    munmap(memory, kBufferBytes);
  }
}

void ForgetHeldBuffers() {
  SpinGuard guard(g_lock);
  while (Buffer* held = FindState(State::kHeld)) *held = {};
}

void ResetBuffersAfterFork() { g_lock.Reset(); }

}  // namespace nanolane::inject
