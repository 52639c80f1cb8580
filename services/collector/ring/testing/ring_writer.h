// The process's side of a ring, for tests: takes pages, writes records and facts, and closes pages,
// as wire.h says. Simple rather than fast, and for one thread, which plays all threads of the
// process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "services/collector/ring/ring_memory.h"

namespace nanolane::collector {

template <typename Record>
inline constexpr wire::RecordType kTypeOf = wire::RecordType{};
template <>
inline constexpr auto kTypeOf<wire::LaunchRecord> = wire::RecordType::kLaunch;
template <>
inline constexpr auto kTypeOf<wire::KernelRecord> = wire::RecordType::kKernel;
template <>
inline constexpr auto kTypeOf<wire::MemcpyRecord> = wire::RecordType::kMemcpy;
template <>
inline constexpr auto kTypeOf<wire::MemsetRecord> = wire::RecordType::kMemset;
template <>
inline constexpr auto kTypeOf<wire::SyncRecord> = wire::RecordType::kSync;
template <>
inline constexpr auto kTypeOf<wire::NvtxRecord> = wire::RecordType::kNvtx;
template <>
inline constexpr auto kTypeOf<wire::MemoryRecord> = wire::RecordType::kMemory;
template <>
inline constexpr auto kTypeOf<wire::FrameworkMemoryRecord> = wire::RecordType::kFrameworkMemory;

class RingWriter {
 public:
  explicit RingWriter(RingMemory& ring) : ring_(ring) {}

  // Writes a record into the thread's page, or into a new one when it does not fit. False: no page
  // is free, and the record is counted as lost.
  template <typename Record>
  bool Write(uint32_t thread, const Record& record) {
    auto page = pages_.find(thread);
    if (page != pages_.end() && Used(page->second) + sizeof(Record) > wire::kPageBytes) {
      Close(thread);
      page = pages_.end();
    }
    if (page == pages_.end()) {
      const std::optional<uint32_t> taken = Take(thread);
      if (!taken.has_value()) {
        ring_.header().lost[static_cast<size_t>(wire::LossReason::kRingFull)][0].fetch_add(1);
        return false;
      }
      page = pages_.emplace(thread, *taken).first;
    }
    wire::PageHeader& header = ring_.page_header(page->second);
    const uint32_t used = header.used.load(std::memory_order_relaxed);
    std::byte* const at = ring_.page(page->second) + used;
    std::memcpy(at, static_cast<const void*>(&record), sizeof(Record));
    const uint64_t head = static_cast<uint64_t>(kTypeOf<Record>) | uint64_t{sizeof(Record)} << 16;
    std::memcpy(at, &head, sizeof(head));
    header.used.store(used + static_cast<uint32_t>(sizeof(Record)), std::memory_order_release);
    return true;
  }

  // The thread ends, or its page is full.
  void Close(uint32_t thread) {
    const auto page = pages_.find(thread);
    if (page == pages_.end()) return;
    SetState(page->second, wire::PageState::kClosed);
    pages_.erase(page);
  }

  void CloseAll() {
    while (!pages_.empty()) Close(pages_.begin()->first);
  }

  void Stop() {
    CloseAll();
    ring_.header().state.store(static_cast<uint32_t>(wire::RingState::kStopped),
                               std::memory_order_release);
  }

  // Takes a page for the thread without writing to it.
  std::optional<uint32_t> Take(uint32_t thread) {
    for (uint32_t i = 0; i < ring_.page_count(); ++i) {
      wire::PageHeader& header = ring_.page_header(i);
      uint32_t free = static_cast<uint32_t>(wire::PageState::kFree);
      if (!header.state.compare_exchange_strong(free,
                                                static_cast<uint32_t>(wire::PageState::kOwned))) {
        continue;
      }
      header.thread = thread;
      header.used.store(0, std::memory_order_relaxed);
      header.claim.store(ring_.header().next_claim.fetch_add(1) + 1, std::memory_order_release);
      return i;
    }
    return std::nullopt;
  }

  void WriteText(wire::FactType type, uint32_t id, std::string_view text) {
    const size_t padded = (text.size() + 7) / 8 * 8;
    wire::FactHeader header = {.size = static_cast<uint32_t>(sizeof(wire::FactHeader) + padded),
                               .type = static_cast<uint16_t>(type),
                               .id = id,
                               .text_bytes = static_cast<uint32_t>(text.size())};
    std::byte* const at = NextFact();
    std::memcpy(at, &header, sizeof(header));
    std::memcpy(at + sizeof(header), text.data(), text.size());
    Publish(header.size);
  }
  void WriteName(uint32_t id, std::string_view text) { WriteText(wire::FactType::kName, id, text); }

  template <typename Fact>
  void WriteFact(wire::FactType type, uint32_t id, Fact fact) {
    fact.header = {.size = sizeof(Fact), .type = static_cast<uint16_t>(type), .id = id};
    std::memcpy(NextFact(), static_cast<const void*>(&fact), sizeof(fact));
    Publish(sizeof(Fact));
  }

  size_t FreePages() const {
    size_t free = 0;
    for (uint32_t i = 0; i < ring_.page_count(); ++i) {
      if (ring_.page_header(i).state.load() == static_cast<uint32_t>(wire::PageState::kFree)) {
        ++free;
      }
    }
    return free;
  }

 private:
  uint32_t Used(uint32_t page) const { return ring_.page_header(page).used.load(); }
  void SetState(uint32_t page, wire::PageState state) {
    ring_.page_header(page).state.store(static_cast<uint32_t>(state), std::memory_order_release);
  }
  std::byte* NextFact() const { return ring_.facts() + ring_.header().facts_used.load(); }
  void Publish(size_t bytes) {
    ring_.header().facts_used.fetch_add(bytes, std::memory_order_release);
  }

  RingMemory& ring_;
  std::map<uint32_t, uint32_t> pages_;  // by thread
};

}  // namespace nanolane::collector
