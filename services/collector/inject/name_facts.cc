#include "services/collector/inject/name_facts.h"

#include <sys/mman.h>

#include <cstring>

namespace nanolane::inject {
namespace {

constexpr uint32_t kSlots = 1 << 18;  // 4 MiB of address space, touched as it is used
constexpr uint32_t kMostNames = kSlots / 4 * 3;

struct Slot {
  uint64_t hash;  // never 0 in a slot that is taken
  uint32_t id;
  uint32_t unused;
};

SpinLock g_lock;
Slot* g_slots = nullptr;
uint32_t g_names = 0;
uint32_t g_next_id = 0;

}  // namespace

uint64_t HashBytes(const char* text, size_t bytes) {
  uint64_t hash = 0xCBF29CE484222325ULL ^ bytes;
  while (bytes >= 8) {
    uint64_t word;
    memcpy(&word, text, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32;
    text += 8;
    bytes -= 8;
  }
  for (size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<uint8_t>(text[i])) * 0x100000001B3ULL;
  }
  hash ^= hash >> 29;
  hash *= 0xBF58476D1CE4E5B9ULL;
  hash ^= hash >> 32;
  return hash != 0 ? hash : 1;
}

uint32_t NameFact(Ring& ring, ThreadState& thread, const char* text, size_t bytes, uint32_t kind) {
  if (bytes > wire::kMaxNameBytes) bytes = wire::kMaxNameBytes;
  const uint64_t hash = HashBytes(text, bytes);
  ThreadState::Name& cached = thread.names[hash % kCachedNames];
  if (cached.hash == hash && cached.capture == ring.number()) return cached.id;

  SpinGuard guard(g_lock);
  if (g_slots == nullptr) return 0;
  uint32_t index = static_cast<uint32_t>(hash >> 20) % kSlots;
  while (g_slots[index].hash != 0 && g_slots[index].hash != hash) index = (index + 1) % kSlots;
  Slot& slot = g_slots[index];
  if (slot.hash == 0) {
    wire::FactHeader fact = {.size = 0,
                             .type = static_cast<uint16_t>(wire::FactType::kName),
                             .unused = 0,
                             .id = g_next_id + 1,
                             .text_bytes = static_cast<uint32_t>(bytes)};
    if (g_names >= kMostNames || !ring.AppendFact(&fact, sizeof(fact), text, bytes)) {
      ring.CountLoss(wire::LossReason::kFactsFull, kind);
      return 0;
    }
    ++g_names;
    slot.hash = hash;
    slot.id = ++g_next_id;
  }
  cached = {.capture = ring.number(), .hash = hash, .id = slot.id};
  return slot.id;
}

bool ResetNames() {
  SpinGuard guard(g_lock);
  if (g_slots == nullptr) {
    void* memory = mmap(nullptr, sizeof(Slot) * kSlots, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    g_slots = static_cast<Slot*>(memory);
  } else {
    // Gives the memory back and reads as zero afterwards.
    madvise(g_slots, sizeof(Slot) * kSlots, MADV_DONTNEED);
  }
  g_names = 0;
  g_next_id = 0;
  return true;
}

void ResetNamesAfterFork() { g_lock.Reset(); }

}  // namespace nanolane::inject
