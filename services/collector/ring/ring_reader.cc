#include "services/collector/ring/ring_reader.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "services/collector/ring/shared_words.h"

namespace nanolane::collector {
namespace {

// The first word of a record: what stands beside type and size is the mark.
struct RecordHead {
  uint16_t type;
  uint16_t size;
  uint32_t mark;
};

RecordHead ReadHead(const std::byte* at) {
  const auto word = LoadWord<uint64_t>(at);
  return {.type = static_cast<uint16_t>(word),
          .size = static_cast<uint16_t>(word >> 16),
          .mark = static_cast<uint32_t>(word >> 32)};
}

// The record's size if it may stand there; else 0.
uint32_t CheckedSize(const RecordHead& head, uint32_t offset, uint32_t used) {
  const size_t size = ShapeOf(head.type).size;
  return size != 0 && head.size == size && size <= used - offset ? static_cast<uint32_t>(size) : 0;
}

bool IsLaunch(uint16_t type) { return type == static_cast<uint16_t>(wire::RecordType::kLaunch); }

void StoreMark(std::byte* record, uint32_t mark) {
  reinterpret_cast<wire::RecordHeader*>(record)->mark.store(mark, std::memory_order_release);
}

bool IsUsedLegal(uint32_t used) { return used <= wire::kPageBytes && used % 8 == 0; }

}  // namespace

RingReader::RingReader(RingMemory& ring) : ring_(ring), facts_(ring), pages_(ring.page_count()) {
  plan_.reserve(ring.page_count());
}

uint64_t RingReader::writer_epoch() const {
  return ring_.header().writer_epoch.load(std::memory_order_acquire);
}

void RingReader::Adopt(uint64_t stored_sequence, uint64_t new_epoch) {
  adopted_claim_ = ring_.header().next_claim.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < ring_.page_count(); ++i) SweepPage(i, stored_sequence);
  // Last: until here the marks are still the old epoch's, and a second sweep finds the same.
  ring_.header().writer_epoch.store(new_epoch, std::memory_order_release);
}

void RingReader::SweepPage(uint32_t index, uint64_t stored_sequence) {
  const wire::PageHeader& header = ring_.page_header(index);
  if (header.state.load(std::memory_order_acquire) ==
      static_cast<uint32_t>(wire::PageState::kFree)) {
    return;
  }
  const uint32_t used = header.used.load(std::memory_order_acquire);
  if (!IsUsedLegal(used)) return;
  std::byte* const base = ring_.page(index);
  for (uint32_t at = 0; at < used;) {
    const RecordHead head = ReadHead(base + at);
    const uint32_t size = CheckedSize(head, at, used);
    if (size == 0) return;
    const bool stored = head.mark == kMarkStored || (head.mark > 0 && head.mark <= stored_sequence);
    const uint32_t mark = stored ? kMarkStored : 0;
    if (mark != head.mark) StoreMark(base + at, mark);
    at += size;
  }
}

size_t RingReader::Read(size_t limit, RingVisitor& visitor) {
  const bool stopped = ReadStatus(ring_.header()).state == wire::RingState::kStopped;
  // Before the pages: a page that is taken during the pass waits for the next one, so that what a
  // thread wrote is read in its order.
  const uint64_t last_claim = ring_.header().next_claim.load(std::memory_order_acquire);
  plan_.clear();
  for (uint32_t i = 0; i < ring_.page_count(); ++i) {
    if (Inspect(i, last_claim)) plan_.emplace_back(pages_[i].claim, i);
  }
  facts_.Read(visitor);
  std::sort(plan_.begin(), plan_.end());
  size_t given = 0;
  for (const auto& [claim, index] : plan_) {
    if (given == limit) break;
    given += ReadPage(index, limit - given, visitor);
  }
  finished_ = stopped && given < limit;
  return given;
}

bool RingReader::Inspect(uint32_t index, uint64_t last_claim) {
  const wire::PageHeader& header = ring_.page_header(index);
  Page& page = pages_[index];
  // State before `used`: what a closed page holds is final.
  const uint32_t state = header.state.load(std::memory_order_acquire);
  if (state == static_cast<uint32_t>(wire::PageState::kFree)) {
    // Only this side frees pages.
    if (page.active) SetCorrupt(page);
    page.active = false;
    return false;
  }
  const uint64_t claim = header.claim.load(std::memory_order_acquire);
  if (claim == 0 || claim > last_claim) return false;
  if (!page.active && claim == page.claim)
    return false;  // being taken: its claim is the last one's
  if (claim != page.claim) Begin(page, claim);
  if (page.corrupt) {
    page.closed = state == static_cast<uint32_t>(wire::PageState::kClosed);
    return false;
  }
  const uint32_t used = header.used.load(std::memory_order_acquire);
  const bool legal = state <= static_cast<uint32_t>(wire::PageState::kClosed) &&
                     IsUsedLegal(used) && used >= page.used && !(page.closed && used != page.used);
  page.closed = state == static_cast<uint32_t>(wire::PageState::kClosed);
  if (!legal) {
    SetCorrupt(page);
    return false;
  }
  page.used = used;
  return page.consumed < page.used;
}

void RingReader::Begin(Page& page, uint64_t claim) {
  // A page that is taken while it is taken, or for the second time under an old number. Nothing has
  // been read of a page whose number arrives late.
  const bool odd = (page.active && page.used > 0) || claim < page.claim;
  page = {.claim = claim, .active = true};
  if (odd) SetCorrupt(page);
}

void RingReader::SetCorrupt(Page& page) {
  if (!page.corrupt) ++corrupt_pages_;
  page.corrupt = true;
  page.consumed = page.used;
}

size_t RingReader::ReadPage(uint32_t index, size_t limit, RingVisitor& visitor) {
  Page& page = pages_[index];
  std::byte* const base = ring_.page(index);
  const uint32_t thread =
      LoadWord<uint32_t>(reinterpret_cast<const std::byte*>(&ring_.page_header(index).thread));
  const bool has_old_marks = page.claim <= adopted_claim_;
  std::array<uint64_t, wire::kMaxRecordBytes / sizeof(uint64_t)> words;
  size_t given = 0;
  while (page.consumed < page.used && given < limit) {
    const uint32_t offset = page.consumed;
    const RecordHead head = ReadHead(base + offset);
    const uint32_t size = CheckedSize(head, offset, page.used);
    if (size == 0) {
      SetCorrupt(page);
      break;
    }
    page.consumed += size;
    ++records_[ShapeOf(head.type).kind];
    const bool stored = has_old_marks && head.mark == kMarkStored;
    if (!IsLaunch(head.type)) {
      if (stored) {
        ++skipped_;
        continue;
      }
      ++page.unmarked;
    }
    words[0] = uint64_t{head.type} | uint64_t{head.size} << 16;
    CopyWords(base + offset + sizeof(uint64_t), size - sizeof(uint64_t), words.data() + 1);
    ++given;
    visitor.TakeRecord({.ref = {.page = index, .offset = offset, .claim = page.claim},
                        .type = static_cast<wire::RecordType>(head.type),
                        .thread = thread,
                        .stored = stored,
                        .words = words.data()});
  }
  return given;
}

RingReader::Page* RingReader::Find(const RecordRef& ref) {
  if (ref.page >= pages_.size()) return nullptr;
  Page& page = pages_[ref.page];
  return page.active && page.claim == ref.claim ? &page : nullptr;
}

void RingReader::Mark(const RecordRef& ref, uint64_t sequence) {
  Page* const page = Find(ref);
  if (page == nullptr) return;
  if (page->unmarked > 0) --page->unmarked;
  StoreSequence(*page, ref, sequence);
}

void RingReader::MarkLaunch(const RecordRef& ref, uint64_t sequence) {
  if (Page* const page = Find(ref); page != nullptr) StoreSequence(*page, ref, sequence);
}

void RingReader::StoreSequence(Page& page, const RecordRef& ref, uint64_t sequence) {
  page.needs_sequence = std::max(page.needs_sequence, sequence);
  StoreMark(ring_.page(ref.page) + ref.offset,
            static_cast<uint32_t>(std::min<uint64_t>(sequence, kMarkStored - 1)));
}

void RingReader::Pin(const RecordRef& ref) {
  if (Page* const page = Find(ref); page != nullptr) ++page->pinned;
}

void RingReader::Unpin(const RecordRef& ref) {
  if (Page* const page = Find(ref); page != nullptr && page->pinned > 0) --page->pinned;
}

void RingReader::SetSafe(uint64_t sequence) { safe_sequence_ = std::max(safe_sequence_, sequence); }

bool RingReader::CanRelease(const Page& page, bool pressed) const {
  return page.active && page.closed && page.consumed == page.used && page.unmarked == 0 &&
         page.needs_sequence <= safe_sequence_ && (page.pinned == 0 || pressed);
}

size_t RingReader::Release() {
  size_t free = 0;
  for (uint32_t i = 0; i < ring_.page_count(); ++i) {
    const uint32_t state = ring_.page_header(i).state.load(std::memory_order_relaxed);
    if (state == static_cast<uint32_t>(wire::PageState::kFree)) ++free;
  }
  size_t released = 0;
  // The second time around launches that are wanted give way, as far as it takes.
  for (const bool pressed : {false, true}) {
    for (uint32_t i = 0; i < ring_.page_count(); ++i) {
      if (pressed && (free + released) * 4 >= ring_.page_count()) break;
      Page& page = pages_[i];
      if (!CanRelease(page, pressed)) continue;
      page.active = false;
      wire::PageHeader& header = ring_.page_header(i);
      header.used.store(0, std::memory_order_relaxed);
      header.state.store(static_cast<uint32_t>(wire::PageState::kFree), std::memory_order_release);
      ++released;
    }
  }
  return released;
}

const RingCounters& RingReader::UpdateCounters() {
  counters_.Update(ring_.header());
  return counters_;
}

}  // namespace nanolane::collector
