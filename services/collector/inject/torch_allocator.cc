#include "services/collector/inject/torch_allocator.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "services/collector/inject/clock.h"
#include "services/collector/inject/log.h"
#include "services/collector/inject/ring_writer.h"

namespace nanolane::inject {
namespace {

// void c10::reportMemoryUsageToProfiler(void* ptr, int64_t alloc_size, size_t total_allocated,
//                                       size_t total_reserved, c10::Device device)
// c10::Device is two bytes (type, index) and comes in one register.
constexpr const char* kSymbol = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";
constexpr uint8_t kCudaDevice = 1;
using Report = void (*)(void*, int64_t, size_t, size_t, uint16_t);

std::atomic<Report> g_real{nullptr};
std::atomic<void*>* g_slot = nullptr;
void* g_slot_before = nullptr;
bool g_installed = false;

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

struct Search {
  std::atomic<void*>* slot = nullptr;
  bool loaded = false;
};

template <typename T>
T* At(const dl_phdr_info& info, ElfW(Addr) address) {
  // glibc relocates these entries of the dynamic section; others leave them as they are in the
  // file.
  const ElfW(Addr) base = info.dlpi_addr;
  return reinterpret_cast<T*>(address < base ? base + address : address);
}

int FindSlot(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (strcmp(name, "libc10_cuda.so") != 0) return 0;
  search.loaded = true;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  }
  if (dynamic == nullptr) return 1;
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * tables[2] = {nullptr, nullptr};
  size_t sizes[2] = {0, 0};
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    switch (dynamic->d_tag) {
      case DT_SYMTAB: symbols = At<const ElfW(Sym)>(*info, dynamic->d_un.d_ptr); break;
      case DT_STRTAB: strings = At<const char>(*info, dynamic->d_un.d_ptr); break;
      case DT_JMPREL: tables[0] = At<const ElfW(Rela)>(*info, dynamic->d_un.d_ptr); break;
      case DT_PLTRELSZ: sizes[0] = dynamic->d_un.d_val; break;
      case DT_RELA: tables[1] = At<const ElfW(Rela)>(*info, dynamic->d_un.d_ptr); break;
      case DT_RELASZ: sizes[1] = dynamic->d_un.d_val; break;
      default: break;
    }
  }
  if (symbols == nullptr || strings == nullptr) return 1;
  for (int table = 0; table < 2; ++table) {
    if (tables[table] == nullptr) continue;
    for (size_t i = 0; i < sizes[table] / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela)& relocation = tables[table][i];
      const auto type = ELF64_R_TYPE(relocation.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(relocation.r_info)];
      if (strcmp(strings + symbol.st_name, kSymbol) != 0) continue;
      search.slot = reinterpret_cast<std::atomic<void*>*>(info->dlpi_addr + relocation.r_offset);
      return 1;
    }
  }
  return 1;
}

bool MakeWritable(void* slot) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(slot) & ~(page - 1);
  // Left writable: the linker may still bind other slots of the page lazily.
  return mprotect(reinterpret_cast<void*>(begin), page, PROT_READ | PROT_WRITE) == 0;
}

Report FindReal() {
  void* library = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
  return library != nullptr ? reinterpret_cast<Report>(dlsym(library, kSymbol)) : nullptr;
}

}  // namespace

bool TorchIsLoaded() {
  Search search;
  dl_iterate_phdr(FindSlot, &search);
  return search.loaded;
}

bool InstallTorchHook() {
  if (g_installed) return true;
  Search search;
  dl_iterate_phdr(FindSlot, &search);
  if (search.slot == nullptr) return false;
  const Report real = FindReal();
  if (real == nullptr || !MakeWritable(search.slot)) return false;
  g_real.store(real, std::memory_order_relaxed);
  g_slot = search.slot;
  g_slot_before = g_slot->exchange(reinterpret_cast<void*>(&Hook), std::memory_order_acq_rel);
  g_installed = true;
  Log("the caching allocator of PyTorch is followed");
  return true;
}

void RemoveTorchHook() {
  if (!g_installed) return;
  g_slot->store(g_slot_before, std::memory_order_release);
  g_installed = false;
}

}  // namespace nanolane::inject
