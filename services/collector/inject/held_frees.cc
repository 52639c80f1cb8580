#include "services/collector/inject/held_frees.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "services/collector/inject/linkage_slot.h"

namespace nanolane::inject {
namespace {

// CUPTI 13.0 frees some 800 blocks (15 MB) as it is detached. More than there is room for are
// never freed.
constexpr uint32_t kMaxBlocks = 1U << 16;
// So that a process that is captured again and again does not grow by it.
constexpr uint32_t kMostGenerations = 4;

// Never unmapped: a thread may note its block in one long after it has been emptied. Such a block
// is freed with what the generation is filled with next, or not at all.
struct Generation {
  std::atomic<uint32_t> count;
  int64_t until_ns;
  std::atomic<void*> blocks[kMaxBlocks];
};

// One more than are kept: the one that is being filled. Pages that are not written take no memory.
Generation g_generations[kMostGenerations + 1];
uint32_t g_oldest = 0;
uint32_t g_kept = 0;
std::atomic<Generation*> g_filling{nullptr};
std::atomic<void (*)(void*)> g_free{nullptr};
LinkageSlot g_slot;

// On any thread, and for a moment also after the slot has been restored.
void OnFree(void* block) {
  if (block == nullptr) return;
  Generation* filling = g_filling.load(std::memory_order_acquire);
  if (filling == nullptr) {
    if (auto* real = g_free.load(std::memory_order_relaxed)) real(block);
    return;
  }
  const uint32_t at = filling->count.fetch_add(1, std::memory_order_relaxed);
  if (at < kMaxBlocks) filling->blocks[at].store(block, std::memory_order_release);
}

void FreeOldest() {
  Generation& oldest = g_generations[g_oldest];
  g_oldest = (g_oldest + 1) % (kMostGenerations + 1);
  --g_kept;
  auto* real = g_free.load(std::memory_order_relaxed);
  const uint32_t counted = oldest.count.exchange(0, std::memory_order_relaxed);
  for (uint32_t i = 0; i < counted && i < kMaxBlocks; ++i) {
    if (void* block = oldest.blocks[i].exchange(nullptr, std::memory_order_acq_rel)) real(block);
  }
}

}  // namespace

bool BeginHoldingFrees(const void* code) {
  // The one that the linker binds the library's calls to: an allocator of the application's, where
  // it has one.
  g_free.store(reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "free")),
               std::memory_order_relaxed);
  if (g_free.load(std::memory_order_relaxed) == nullptr) return false;
  if (g_kept == kMostGenerations) FreeOldest();
  Generation& next = g_generations[(g_oldest + g_kept) % (kMostGenerations + 1)];
  g_filling.store(&next, std::memory_order_release);
  if (g_slot.InstallIn(code, "free", reinterpret_cast<void*>(&OnFree))) return true;
  g_filling.store(nullptr, std::memory_order_release);
  return false;
}

void EndHoldingFrees(int64_t until_ns) {
  g_slot.Remove(reinterpret_cast<void*>(g_free.load(std::memory_order_relaxed)));
  Generation* filled = g_filling.exchange(nullptr, std::memory_order_acq_rel);
  if (filled == nullptr) return;
  filled->until_ns = until_ns;
  ++g_kept;
}

void FreeHeld(int64_t now_ns) {
  while (g_kept != 0 && g_generations[g_oldest].until_ns <= now_ns) FreeOldest();
}

int64_t NextFreeing() { return g_kept != 0 ? g_generations[g_oldest].until_ns : INT64_MAX; }

void ResetHeldFreesAfterFork() { g_filling.store(nullptr, std::memory_order_release); }

}  // namespace nanolane::inject
