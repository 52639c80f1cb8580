#include "services/collector/inject/nvtx_tables.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <cwchar>

#include "services/collector/inject/clock.h"
#include "services/collector/inject/name_facts.h"

namespace nanolane::inject {
namespace {

// NVTX's ABI ----------------------------------------------------------------------------------

using Slot = void (*)();
enum : uint32_t { kExportCallbacks = 1 };
enum : int { kModuleCore = 1, kModuleCore2 = 5 };
struct ExportCallbacks {
  size_t struct_size;
  int (*get_module_table)(int module, Slot*** table, unsigned int* size);
};

enum MessageType : int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };
struct Attributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved;
  uint64_t payload;
  int32_t message_type;
  int32_t padding;
  const void* message;
};
static_assert(sizeof(Attributes) == 48);

// What handles of NVTX point to: never given back, since a program may use them to its end.
struct Text {
  size_t bytes;
  char text[1];
};

// ---------------------------------------------------------------------------------------------

constexpr size_t kMostText = 4096;

Text* MakeText(const char* text) {
  if (text == nullptr) return nullptr;
  size_t bytes = strlen(text);
  if (bytes > kMostText) bytes = kMostText;
  auto* made = static_cast<Text*>(malloc(sizeof(Text) + bytes));
  if (made == nullptr) return nullptr;
  made->bytes = bytes;
  memcpy(made->text, text, bytes);
  made->text[bytes] = 0;
  return made;
}

size_t ToUtf8(const wchar_t* text, char* out, size_t room) {
  size_t used = 0;
  for (; *text != 0 && used + 4 <= room; ++text) {
    const auto code = static_cast<uint32_t>(*text);
    if (code < 0x80) {
      out[used++] = static_cast<char>(code);
    } else if (code < 0x800) {
      out[used++] = static_cast<char>(0xC0 | (code >> 6));
      out[used++] = static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      out[used++] = static_cast<char>(0xE0 | (code >> 12));
      out[used++] = static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      out[used++] = static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x110000) {
      out[used++] = static_cast<char>(0xF0 | (code >> 18));
      out[used++] = static_cast<char>(0x80 | ((code >> 12) & 0x3F));
      out[used++] = static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      out[used++] = static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return used;
}

Text* MakeText(const wchar_t* text) {
  if (text == nullptr) return nullptr;
  char utf8[kMostText + 1];
  utf8[ToUtf8(text, utf8, kMostText)] = 0;
  return MakeText(utf8);
}

struct What {
  uint32_t name = 0;
  uint32_t domain = 0;
  uint32_t color = 0;
  uint32_t category = 0;
};

uint32_t NameOf(Ring& ring, ThreadState& thread, const char* text) {
  return text == nullptr ? 0 : NameFact(ring, thread, text, strnlen(text, kMostText), kSlotNvtx);
}

uint32_t NameOf(Ring& ring, ThreadState& thread, const wchar_t* text) {
  if (text == nullptr) return 0;
  char utf8[kMostText];
  return NameFact(ring, thread, utf8, ToUtf8(text, utf8, sizeof(utf8)), kSlotNvtx);
}

uint32_t NameOf(Ring& ring, ThreadState& thread, const Text* text) {
  return text == nullptr ? 0 : NameFact(ring, thread, text->text, text->bytes, kSlotNvtx);
}

template <typename Char>
What Describe(Ring& ring, ThreadState& thread, const Text* domain, const Char* text) {
  return {.name = NameOf(ring, thread, text), .domain = NameOf(ring, thread, domain)};
}

What Describe(Ring& ring, ThreadState& thread, const Text* domain, const Attributes* attributes) {
  What what{.domain = NameOf(ring, thread, domain)};
  if (attributes == nullptr || attributes->size < sizeof(Attributes)) return what;
  what.category = attributes->category;
  if (attributes->color_type == 1) what.color = attributes->color;
  switch (attributes->message_type) {
    case kAscii:
      what.name = NameOf(ring, thread, static_cast<const char*>(attributes->message));
      break;
    case kUnicode:
      what.name = NameOf(ring, thread, static_cast<const wchar_t*>(attributes->message));
      break;
    case kRegistered:
      what.name = NameOf(ring, thread, static_cast<const Text*>(attributes->message));
      break;
    default: break;
  }
  return what;
}

struct Extent {
  int64_t start_ns;
  int64_t end_ns;
  uint32_t thread;
  uint32_t flags;
};

void WriteRange(const CaptureUse& use, const What& what, const Extent& extent) {
  use.Write<wire::NvtxRecord>(wire::RecordType::kNvtx, kSlotNvtx, [&](wire::NvtxRecord& record) {
    record.start_ns = extent.start_ns;
    record.duration_ns = extent.end_ns - extent.start_ns;
    record.name = what.name;
    record.domain = what.domain;
    record.thread = extent.thread;
    record.flags = extent.flags;
    record.color = what.color;
    record.category = what.category;
  });
}

// A capture that takes ranges and has not ended; the time it is.
bool IsRecording(const CaptureUse& use, int64_t* now_ns) {
  if (!use || (use->kinds & wire::kKindNvtx) == 0) return false;
  *now_ns = MonotonicNs();
  return use->Includes(*now_ns);
}

// Pushed ranges -------------------------------------------------------------------------------

// The thread's stack, emptied if it is of a capture before.
ThreadState& StackOf(const CaptureUse& use) {
  ThreadState& state = use.thread();
  const uint64_t capture = use->ring->number();
  if (state.nvtx_capture.load(std::memory_order_relaxed) != capture) {
    state.nvtx_depth.store(0, std::memory_order_relaxed);
    state.nvtx_lost_depth = 0;
    state.nvtx_capture.store(capture, std::memory_order_release);
  }
  return state;
}

template <typename Named>
void Mark(const Text* domain, const Named* named) {
  if (!CaptureIsOn()) return;
  const CaptureUse use;
  int64_t now = 0;
  if (!IsRecording(use, &now)) return;
  WriteRange(use, Describe(*use->ring, use.thread(), domain, named),
             {now, now, use.thread().thread, wire::kNvtxMark});
}

template <typename Named>
int Push(const Text* domain, const Named* named) {
  if (!CaptureIsOn()) return 0;
  const CaptureUse use;
  int64_t now = 0;
  if (!IsRecording(use, &now)) return 0;
  ThreadState& state = StackOf(use);
  const uint32_t depth = state.nvtx_depth.load(std::memory_order_relaxed);
  if (depth >= kMaxNvtxDepth) {
    ++state.nvtx_lost_depth;
    use->ring->CountLoss(wire::LossReason::kNvtxTooDeep, kSlotNvtx);
    return static_cast<int>(depth);
  }
  const What what = Describe(*use->ring, use.thread(), domain, named);
  state.nvtx[depth] = {.start_ns = now,
                       .domain_handle = domain,
                       .name = what.name,
                       .domain = what.domain,
                       .color = what.color,
                       .category = what.category};
  state.nvtx_thread = state.thread;
  state.nvtx_depth.store(depth + 1, std::memory_order_release);
  return static_cast<int>(depth);
}

// Ends the innermost range of the domain: domains nest independently of each other.
int Pop(const Text* domain) {
  if (!CaptureIsOn()) return 0;
  const CaptureUse use;
  int64_t now = 0;
  if (!IsRecording(use, &now)) return 0;
  ThreadState& state = StackOf(use);
  if (state.nvtx_lost_depth > 0) {
    --state.nvtx_lost_depth;
    return static_cast<int>(kMaxNvtxDepth);
  }
  const uint32_t depth = state.nvtx_depth.load(std::memory_order_relaxed);
  uint32_t at = depth;
  while (at > 0 && state.nvtx[at - 1].domain_handle != domain) --at;
  if (at == 0) {
    WriteRange(
        use, {.domain = NameOf(*use->ring, use.thread(), domain)},
        {use->on_ns.load(std::memory_order_relaxed), now, state.thread, wire::kNvtxBeganBefore});
    return 0;
  }
  const OpenRange range = state.nvtx[at - 1];
  memmove(&state.nvtx[at - 1], &state.nvtx[at], sizeof(OpenRange) * (depth - at));
  state.nvtx_depth.store(depth - 1, std::memory_order_release);
  WriteRange(use,
             {.name = range.name,
              .domain = range.domain,
              .color = range.color,
              .category = range.category},
             {range.start_ns, now, state.thread, 0});
  return static_cast<int>(at - 1);
}

// Takes what is open in a thread of the capture, innermost first.
void WriteStack(const CaptureUse& use, ThreadState& state, int64_t end_ns, uint32_t flags) {
  if (state.nvtx_capture.load(std::memory_order_acquire) != use->ring->number()) return;
  for (uint32_t i = state.nvtx_depth.exchange(0, std::memory_order_acq_rel); i > 0; --i) {
    const OpenRange& range = state.nvtx[i - 1];
    // A thread may have begun one while the end was decided: it is not of the capture.
    if (range.start_ns > end_ns) continue;
    WriteRange(use,
               {.name = range.name,
                .domain = range.domain,
                .color = range.color,
                .category = range.category},
               {range.start_ns, end_ns, state.nvtx_thread, flags});
  }
}

// Ranges that are started and ended by id, in any thread -----------------------------------------

struct ProcessRange {
  uint64_t id;  // 0: free
  uint64_t capture;
  OpenRange range;
  uint32_t thread;
};
constexpr uint32_t kMostProcessRanges = 1024;
SpinLock g_ranges_lock;
ProcessRange g_ranges[kMostProcessRanges];
std::atomic<uint64_t> g_range_ids{0};

template <typename Named>
uint64_t Start(const Text* domain, const Named* named) {
  const uint64_t id = g_range_ids.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!CaptureIsOn()) return id;
  const CaptureUse use;
  int64_t now = 0;
  if (!IsRecording(use, &now)) return id;
  const What what = Describe(*use->ring, use.thread(), domain, named);
  SpinGuard guard(g_ranges_lock);
  for (uint32_t i = 0; i < kMostProcessRanges; ++i) {
    ProcessRange& slot = g_ranges[(id + i) % kMostProcessRanges];
    if (slot.id != 0 && slot.capture == use->ring->number()) continue;
    slot = {.id = id,
            .capture = use->ring->number(),
            .range = {.start_ns = now,
                      .domain_handle = domain,
                      .name = what.name,
                      .domain = what.domain,
                      .color = what.color,
                      .category = what.category},
            .thread = use.thread().thread};
    return id;
  }
  use->ring->CountLoss(wire::LossReason::kNvtxTooDeep, kSlotNvtx);
  return id;
}

void End(const Text* domain, uint64_t id) {
  if (!CaptureIsOn()) return;
  const CaptureUse use;
  int64_t now = 0;
  if (!IsRecording(use, &now)) return;
  ProcessRange found{};
  {
    SpinGuard guard(g_ranges_lock);
    for (uint32_t i = 0; i < kMostProcessRanges; ++i) {
      ProcessRange& slot = g_ranges[(id + i) % kMostProcessRanges];
      if (slot.id != id || slot.capture != use->ring->number()) continue;
      found = slot;
      slot.id = 0;
      break;
    }
  }
  if (found.id == 0) {
    WriteRange(use, {.domain = NameOf(*use->ring, use.thread(), domain)},
               {use->on_ns.load(std::memory_order_relaxed), now, use.thread().thread,
                wire::kNvtxBeganBefore | wire::kNvtxProcessRange});
    return;
  }
  WriteRange(use,
             {.name = found.range.name,
              .domain = found.range.domain,
              .color = found.range.color,
              .category = found.range.category},
             {found.range.start_ns, now, found.thread, wire::kNvtxProcessRange});
}

// The functions of the tables --------------------------------------------------------------------

void MarkEx(const Attributes* attributes) { Mark(nullptr, attributes); }
void MarkA(const char* text) { Mark(nullptr, text); }
void MarkW(const wchar_t* text) { Mark(nullptr, text); }
uint64_t RangeStartEx(const Attributes* attributes) { return Start(nullptr, attributes); }
uint64_t RangeStartA(const char* text) { return Start(nullptr, text); }
uint64_t RangeStartW(const wchar_t* text) { return Start(nullptr, text); }
void RangeEnd(uint64_t id) { End(nullptr, id); }
int RangePushEx(const Attributes* attributes) { return Push(nullptr, attributes); }
int RangePushA(const char* text) { return Push(nullptr, text); }
int RangePushW(const wchar_t* text) { return Push(nullptr, text); }
int RangePop() { return Pop(nullptr); }

void DomainMarkEx(const Text* domain, const Attributes* attributes) { Mark(domain, attributes); }
uint64_t DomainRangeStartEx(const Text* domain, const Attributes* attributes) {
  return Start(domain, attributes);
}
void DomainRangeEnd(const Text* domain, uint64_t id) { End(domain, id); }
int DomainRangePushEx(const Text* domain, const Attributes* attributes) {
  return Push(domain, attributes);
}
int DomainRangePop(const Text* domain) { return Pop(domain); }
const Text* DomainRegisterStringA(const Text*, const char* text) { return MakeText(text); }
const Text* DomainRegisterStringW(const Text*, const wchar_t* text) { return MakeText(text); }
const Text* DomainCreateA(const char* name) { return MakeText(name); }
const Text* DomainCreateW(const wchar_t* name) { return MakeText(name); }
void DomainDestroy(const Text*) {}

struct Entry {
  uint32_t index;
  Slot function;
};

template <typename Function>
Entry Put(uint32_t index, Function* function) {
  return {index, reinterpret_cast<Slot>(function)};
}

void FillModule(const ExportCallbacks& callbacks, int module, const Entry* entries, size_t count) {
  Slot** table = nullptr;
  unsigned int size = 0;
  if (callbacks.get_module_table(module, &table, &size) == 0 || table == nullptr) return;
  for (size_t i = 0; i < count; ++i) {
    if (entries[i].index < size && table[entries[i].index] != nullptr) {
      *table[entries[i].index] = entries[i].function;
    }
  }
}

std::atomic<bool> g_injected{false};

}  // namespace

bool FillNvtxTables(NvtxGetExportTable get_export_table) {
  if (get_export_table == nullptr) return false;
  const auto* callbacks = static_cast<const ExportCallbacks*>(get_export_table(kExportCallbacks));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(ExportCallbacks)) return false;
  const Entry core[] = {Put(1, MarkEx),       Put(2, MarkA),       Put(3, MarkW),
                        Put(4, RangeStartEx), Put(5, RangeStartA), Put(6, RangeStartW),
                        Put(7, RangeEnd),     Put(8, RangePushEx), Put(9, RangePushA),
                        Put(10, RangePushW),  Put(11, RangePop)};
  const Entry core2[] = {Put(1, DomainMarkEx),           Put(2, DomainRangeStartEx),
                         Put(3, DomainRangeEnd),         Put(4, DomainRangePushEx),
                         Put(5, DomainRangePop),         Put(10, DomainRegisterStringA),
                         Put(11, DomainRegisterStringW), Put(12, DomainCreateA),
                         Put(13, DomainCreateW),         Put(14, DomainDestroy)};
  FillModule(*callbacks, kModuleCore, core, sizeof(core) / sizeof(core[0]));
  FillModule(*callbacks, kModuleCore2, core2, sizeof(core2) / sizeof(core2[0]));
  g_injected.store(true, std::memory_order_relaxed);
  return true;
}

bool NvtxIsInjected() { return g_injected.load(std::memory_order_relaxed); }

void WriteOpenRanges(const CaptureUse& use, int64_t off_ns) {
  const uint64_t capture = use->ring->number();
  ForEachThread([&](ThreadState& state) { WriteStack(use, state, off_ns, wire::kNvtxStillOpen); });
  for (const ProcessRange& slot : g_ranges) {
    if (slot.id == 0 || slot.capture != capture || slot.range.start_ns > off_ns) continue;
    WriteRange(
        use,
        {.name = slot.range.name,
         .domain = slot.range.domain,
         .color = slot.range.color,
         .category = slot.range.category},
        {slot.range.start_ns, off_ns, slot.thread, wire::kNvtxStillOpen | wire::kNvtxProcessRange});
  }
}

void EndRangesOfEndingThread() {
  if (!CaptureIsOn()) return;
  const CaptureUse use;
  int64_t now = 0;
  if (IsRecording(use, &now)) WriteStack(use, use.thread(), now, 0);
}

void ForgetProcessRanges() {
  SpinGuard guard(g_ranges_lock);
  for (ProcessRange& slot : g_ranges) slot.id = 0;
}

void ResetNvtxAfterFork() { g_ranges_lock.Reset(); }

}  // namespace nanolane::inject
