#include "services/collector/inject/process_end.h"

#include <unistd.h>

#include <atomic>

namespace nanolane::inject {
namespace {

std::atomic<bool> g_ends{false};
std::atomic<bool> g_hands_off{false};

}  // namespace

void NoteProcessEnds() { g_ends.store(true, std::memory_order_release); }
bool ProcessEnds() { return g_ends.load(std::memory_order_acquire); }

void TakeHandsOff() { g_hands_off.store(true, std::memory_order_release); }

void ParkIfHandsOff() {
  while (g_hands_off.load(std::memory_order_acquire)) pause();
}

void ResetProcessEndAfterFork() {
  g_ends.store(false, std::memory_order_release);
  g_hands_off.store(false, std::memory_order_release);
}

}  // namespace nanolane::inject
