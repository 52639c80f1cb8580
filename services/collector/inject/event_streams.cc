#include "services/collector/inject/event_streams.h"

#include <atomic>

namespace nanolane::inject {
namespace {

constexpr uint32_t kSlots = 1 << 15;
constexpr uint32_t kProbes = 16;

struct Slot {
  std::atomic<uint64_t> event;
  std::atomic<uint64_t> stream;  // 1 + id; 0: none
};
Slot g_slots[kSlots];

uint32_t FirstSlot(uint64_t key) {
  return static_cast<uint32_t>((key * 0x9E3779B97F4A7C15ULL) >> 49) % kSlots;
}

}  // namespace

void NoteEventRecorded(const void* event, uint32_t stream) {
  const auto key = reinterpret_cast<uint64_t>(event);
  if (key == 0) return;
  for (uint32_t i = 0; i < kProbes; ++i) {
    Slot& slot = g_slots[(FirstSlot(key) + i) % kSlots];
    uint64_t held = slot.event.load(std::memory_order_relaxed);
    if (held == 0 && !slot.event.compare_exchange_strong(held, key, std::memory_order_relaxed) &&
        held != key) {
      continue;
    }
    if (held != 0 && held != key) continue;
    slot.stream.store(uint64_t{stream} + 1, std::memory_order_relaxed);
    return;
  }
}

int64_t StreamOfEvent(const void* event) {
  const auto key = reinterpret_cast<uint64_t>(event);
  if (key == 0) return -1;
  for (uint32_t i = 0; i < kProbes; ++i) {
    const Slot& slot = g_slots[(FirstSlot(key) + i) % kSlots];
    const uint64_t held = slot.event.load(std::memory_order_relaxed);
    if (held == 0) return -1;
    if (held != key) continue;
    return static_cast<int64_t>(slot.stream.load(std::memory_order_relaxed)) - 1;
  }
  return -1;
}

void ForgetEvents() {
  for (Slot& slot : g_slots) {
    slot.event.store(0, std::memory_order_relaxed);
    slot.stream.store(0, std::memory_order_relaxed);
  }
}

}  // namespace nanolane::inject
