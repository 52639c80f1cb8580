#include "services/collector/inject/linkage_slot.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace nanolane::inject {
namespace {

struct Search {
  const char* library;  // null: the one that has `code`
  const void* code;
  const char* symbol;  // null: only whether the library is loaded
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

bool HasName(const dl_phdr_info& info, const char* wanted) {
  const char* slash = strrchr(info.dlpi_name, '/');
  return strcmp(slash != nullptr ? slash + 1 : info.dlpi_name, wanted) == 0;
}

bool Contains(const dl_phdr_info& info, const void* code) {
  const auto address = reinterpret_cast<ElfW(Addr)>(code);
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    if (address - info.dlpi_addr - segment.p_vaddr < segment.p_memsz) return true;
  }
  return false;
}

int FindSlot(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const bool is_it =
      search.library != nullptr ? HasName(*info, search.library) : Contains(*info, search.code);
  if (!is_it) return 0;
  search.loaded = true;
  if (search.symbol == nullptr) return 1;
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
      if (strcmp(strings + symbol.st_name, search.symbol) != 0) continue;
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

}  // namespace

bool LibraryIsLoaded(const char* library) {
  Search search = {.library = library, .code = nullptr, .symbol = nullptr};
  dl_iterate_phdr(FindSlot, &search);
  return search.loaded;
}

bool LinkageSlot::Install(const char* library, const char* symbol, void* replacement) {
  // Again: the linker may have bound the slot in the meantime.
  if (installed_) return InstallAt(slot_, replacement);
  Search search = {.library = library, .code = nullptr, .symbol = symbol};
  dl_iterate_phdr(FindSlot, &search);
  return InstallAt(search.slot, replacement);
}

bool LinkageSlot::InstallIn(const void* code, const char* symbol, void* replacement) {
  if (installed_) return InstallAt(slot_, replacement);
  Search search = {.library = nullptr, .code = code, .symbol = symbol};
  dl_iterate_phdr(FindSlot, &search);
  return InstallAt(search.slot, replacement);
}

bool LinkageSlot::InstallAt(std::atomic<void*>* slot, void* replacement) {
  if (slot == nullptr || !MakeWritable(slot)) return false;
  slot_ = slot;
  slot_->store(replacement, std::memory_order_release);
  installed_ = true;
  return true;
}

void LinkageSlot::Remove(void* real) {
  if (!installed_) return;
  slot_->store(real, std::memory_order_release);
  installed_ = false;
}

}  // namespace nanolane::inject
