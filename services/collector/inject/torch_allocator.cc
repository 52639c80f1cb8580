#include "services/collector/inject/torch_allocator.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "services/collector/inject/clock.h"
#include "services/collector/inject/linkage_slot.h"
#include "services/collector/inject/log.h"
#include "services/collector/inject/ring_writer.h"

namespace nanolane::inject {
namespace {

// void c10::reportMemoryUsageToProfiler(void* ptr, int64_t alloc_size, size_t total_allocated,
//                                       size_t total_reserved, c10::Device device)
// c10::Device is two bytes (type, index) and comes in one register.
constexpr const char* kLibrary = "libc10_cuda.so";
constexpr const char* kSymbol = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";
constexpr uint8_t kCudaDevice = 1;
using Report = void (*)(void*, int64_t, size_t, size_t, uint16_t);

std::atomic<Report> g_real{nullptr};
LinkageSlot g_slot;

void Hook(void* address, int64_t bytes, size_t allocated, size_t reserved, uint16_t device) {
  {
    const CaptureUse use;
    if (use && (use->kinds & wire::kKindFrameworkMemory) != 0 && (device & 0xFF) == kCudaDevice) {
      const int64_t now = MonotonicNs();
      if (use->Includes(now)) {
        use.Write<wire::FrameworkMemoryRecord>(
            wire::RecordType::kFrameworkMemory, kSlotFrameworkMemory,
            [&](wire::FrameworkMemoryRecord& record) {
              record.time_ns = now;
              record.bytes = bytes;
              record.address = reinterpret_cast<uint64_t>(address);
              record.allocated_bytes = allocated;
              record.reserved_bytes = reserved;
              record.device = static_cast<int8_t>(device >> 8);
            });
      }
    }
  }
  if (const Report real = g_real.load(std::memory_order_relaxed)) {
    real(address, bytes, allocated, reserved, device);
  }
}

Report FindReal() {
  void* library = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
  return library != nullptr ? reinterpret_cast<Report>(dlsym(library, kSymbol)) : nullptr;
}

}  // namespace

bool TorchIsLoaded() { return LibraryIsLoaded(kLibrary); }

bool InstallTorchHook() {
  const bool is_new = !g_slot.is_installed();
  const Report real = FindReal();
  if (real == nullptr) return false;
  g_real.store(real, std::memory_order_relaxed);
  if (!g_slot.Install(kLibrary, kSymbol, reinterpret_cast<void*>(&Hook))) return false;
  if (is_new) Log("the caching allocator of PyTorch is followed");
  return true;
}

void RemoveTorchHook() {
  g_slot.Remove(reinterpret_cast<void*>(g_real.load(std::memory_order_relaxed)));
}

}  // namespace nanolane::inject
