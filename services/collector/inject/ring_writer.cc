#include "services/collector/inject/ring_writer.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "services/collector/inject/clock.h"

namespace nanolane::inject {
namespace {

// How long a full ring is not looked through again by threads of the application.
constexpr int64_t kFullNs = 200'000;

std::atomic<uint64_t> g_captures{0};

CaptureInProgress g_capture_value;
std::atomic<const CaptureInProgress*> g_capture{nullptr};
std::atomic<uint64_t> g_refused_uses{0};

// Each thread once, one after the other: one that comes back in sees what was stored before.
bool SeeEveryThreadOutside(int64_t patience_ns) {
  const int64_t deadline = MonotonicNs() + patience_ns;
  bool seen = true;
  ForEachThread([&seen, deadline](ThreadState& state) {
    while (state.busy.load(std::memory_order_seq_cst) != 0) {
      if (MonotonicNs() > deadline) {
        seen = false;
        return;
      }
      sched_yield();
    }
  });
  return seen;
}

bool IsSealed(int fd) {
  const int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && (seals & F_SEAL_GROW) != 0;
}

}  // namespace

Ring* Ring::Map(int fd, const char** why) {
  struct stat status {};
  if (fstat(fd, &status) != 0 || !IsSealed(fd)) {
    *why = "the ring's descriptor is no sealed memory";
    return nullptr;
  }
  const auto bytes = static_cast<size_t>(status.st_size);
  if (bytes < wire::kRingHeaderBytes) {
    *why = "the ring is too small";
    return nullptr;
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    *why = "the ring cannot be mapped";
    return nullptr;
  }
  // A forked child must not write into its parent's ring.
  madvise(memory, bytes, MADV_DONTFORK);
  auto* header = static_cast<wire::RingHeader*>(memory);
  // Read once: what was checked is what is used.
  struct {
    uint32_t magic;
    uint16_t protocol;
    uint16_t unused;
    uint32_t page_bytes;
    uint32_t page_count;
    uint32_t facts_bytes;
  } geometry{};
  static_assert(offsetof(wire::RingHeader, facts_bytes) == 16);
  const bool is_read = pread(fd, &geometry, sizeof(geometry), 0) == sizeof(geometry);
  const uint32_t page_count = geometry.page_count;
  const uint32_t facts_bytes = geometry.facts_bytes;
  const bool fits =
      is_read && geometry.magic == wire::kMagic && geometry.protocol == wire::kProtocol &&
      geometry.page_bytes == wire::kPageBytes && page_count > 0 && page_count <= wire::kMaxPages &&
      facts_bytes <= wire::kMaxFactsBytes && wire::RingBytes(page_count, facts_bytes) == bytes;
  void* place = fits ? malloc(sizeof(Ring)) : nullptr;
  if (place == nullptr) {
    *why = fits ? "out of memory" : "the ring's geometry is not of this version";
    munmap(memory, bytes);
    return nullptr;
  }
  auto* ring = new (place) Ring;
  ring->base_ = static_cast<char*>(memory);
  ring->bytes_ = bytes;
  ring->number_ = g_captures.fetch_add(1, std::memory_order_relaxed) + 1;
  ring->page_count_ = page_count;
  ring->facts_bytes_ = facts_bytes;
  ring->header_ = header;
  ring->page_headers_ =
      reinterpret_cast<wire::PageHeader*>(ring->base_ + wire::PageHeadersOffset());
  ring->facts_ = ring->base_ + wire::FactsOffset(page_count);
  ring->pages_ = ring->base_ + wire::PagesOffset(page_count, facts_bytes);
  return ring;
}

void Ring::Unmap(Ring* ring) {
  munmap(ring->base_, ring->bytes_);
  free(ring);
}

void* Ring::Reserve(ThreadState& state, size_t bytes) {
  const bool has_page = state.has_page && state.capture == number_;
  if (!has_page || state.used + bytes > wire::kPageBytes) {
    if (has_page) CloseOwnPage(state);
    if (!ClaimPage(state)) return nullptr;
  }
  return pages_ + size_t{state.page} * wire::kPageBytes + state.used;
}

void Ring::Publish(ThreadState& state, size_t bytes, uint32_t kind) {
  state.used += static_cast<uint32_t>(bytes);
  PageHeaderAt(state.page).used.store(state.used, std::memory_order_release);
  ++state.produced[kind];
}

void Ring::CountProduced(ThreadState& state) {
  for (size_t kind = 0; kind < wire::kKindSlots; ++kind) {
    if (state.produced[kind] == 0) continue;
    header_->produced[kind].fetch_add(state.produced[kind], std::memory_order_relaxed);
    state.produced[kind] = 0;
  }
}

// The order matters to the reader: a page that is owned but still has the claim of its former
// taking is passed over; one with the new claim has `used` of the new taking.
bool Ring::ClaimPage(ThreadState& state) {
  const bool privileged = &state == privileged_;
  if (!privileged && full_until_ns_.load(std::memory_order_relaxed) > MonotonicNs()) return false;
  const uint32_t reserved = privileged ? 0 : page_count_ / 16;
  // From the front: memory that has been touched is touched again.
  for (uint32_t page = 0; page < page_count_ - reserved; ++page) {
    wire::PageHeader& header = PageHeaderAt(page);
    auto free = static_cast<uint32_t>(wire::PageState::kFree);
    if (header.state.load(std::memory_order_relaxed) != free) continue;
    if (!header.state.compare_exchange_strong(free, static_cast<uint32_t>(wire::PageState::kOwned),
                                              std::memory_order_acq_rel)) {
      continue;
    }
    header.used.store(0, std::memory_order_relaxed);
    header.thread = state.thread;
    const uint64_t claim = header_->next_claim.fetch_add(1, std::memory_order_acq_rel) + 1;
    header.claim.store(claim, std::memory_order_release);
    state.capture = number_;
    state.page = page;
    state.used = 0;
    state.has_page = true;
    memset(state.produced, 0, sizeof(state.produced));
    return true;
  }
  if (!privileged) full_until_ns_.store(MonotonicNs() + kFullNs, std::memory_order_relaxed);
  return false;
}

void Ring::CloseOwnPage(ThreadState& state) {
  if (!state.has_page || state.capture != number_) return;
  state.has_page = false;
  CountProduced(state);
  PageHeaderAt(state.page)
      .state.store(static_cast<uint32_t>(wire::PageState::kClosed), std::memory_order_release);
}

void Ring::CloseAllPages() {
  ForEachThread([this](ThreadState& state) {
    if (state.has_page && state.capture == number_) CloseOwnPage(state);
  });
  for (uint32_t page = 0; page < page_count_; ++page) {
    auto owned = static_cast<uint32_t>(wire::PageState::kOwned);
    page_headers_[page].state.compare_exchange_strong(
        owned, static_cast<uint32_t>(wire::PageState::kClosed), std::memory_order_acq_rel);
  }
}

bool Ring::AppendFact(const void* entry, size_t bytes, const void* text, size_t text_bytes) {
  const size_t size = (bytes + text_bytes + 7) / 8 * 8;
  SpinGuard guard(facts_lock_);
  if (facts_used_ + size > facts_bytes_) return false;
  char* place = facts_ + facts_used_;
  memcpy(place, entry, bytes);
  if (text_bytes > 0) memcpy(place + bytes, text, text_bytes);
  reinterpret_cast<wire::FactHeader*>(place)->size = static_cast<uint32_t>(size);
  facts_used_ += size;
  header_->facts_used.store(facts_used_, std::memory_order_release);
  return true;
}

void PublishCapture(Ring* ring, uint32_t kinds) {
  g_capture_value.ring = ring;
  g_capture_value.kinds = kinds;
  g_capture_value.on_ns.store(INT64_MAX, std::memory_order_relaxed);
  g_capture_value.ends_ns.store(INT64_MAX, std::memory_order_relaxed);
  g_capture.store(&g_capture_value, std::memory_order_seq_cst);
}

void BeginCapture(int64_t on_ns, int64_t ends_ns) {
  g_capture_value.ends_ns.store(ends_ns, std::memory_order_seq_cst);
  g_capture_value.on_ns.store(on_ns, std::memory_order_seq_cst);
}

bool CloseCapture(int64_t off_ns, int64_t patience_ns) {
  g_capture_value.ends_ns.store(off_ns, std::memory_order_seq_cst);
  while (MonotonicNs() < off_ns) sched_yield();
  return SeeEveryThreadOutside(patience_ns);
}

bool RetractCapture(int64_t patience_ns) {
  g_capture.store(nullptr, std::memory_order_seq_cst);
  return SeeEveryThreadOutside(patience_ns);
}

bool AnyUse() { return !SeeEveryThreadOutside(0); }

uint64_t TakeRefusedUses() { return g_refused_uses.exchange(0, std::memory_order_relaxed); }

bool CaptureIsOn() { return g_capture.load(std::memory_order_relaxed) != nullptr; }

CaptureUse::CaptureUse() : state_(CurrentThread()) {
  if (state_ == nullptr) {
    if (CaptureIsOn()) g_refused_uses.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  // Before the load, in one order with RetractCapture's store and its reading of `busy`.
  if (state_->busy.fetch_add(1, std::memory_order_seq_cst) != 0) {
    state_->busy.fetch_sub(1, std::memory_order_release);
    if (CaptureIsOn()) g_refused_uses.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  capture_ = g_capture.load(std::memory_order_seq_cst);
  if (capture_ == nullptr) state_->busy.fetch_sub(1, std::memory_order_release);
}

CaptureUse::~CaptureUse() {
  if (capture_ != nullptr) state_->busy.fetch_sub(1, std::memory_order_release);
}

WritingAs::WritingAs(const CaptureUse& use, uint32_t thread)
    : use_(use), own_thread_(use.thread().thread) {
  // A page is of one thread.
  use_->ring->CloseOwnPage(use_.thread());
  use_.thread().thread = thread;
}

WritingAs::~WritingAs() {
  use_->ring->CloseOwnPage(use_.thread());
  use_.thread().thread = own_thread_;
}

void ClosePageOfEndingThread(ThreadState& state) {
  state.busy.fetch_add(1, std::memory_order_seq_cst);
  if (const CaptureInProgress* capture = g_capture.load(std::memory_order_seq_cst)) {
    capture->ring->CloseOwnPage(state);
  }
  // Without a capture the page is the agent's, which may be counting what is in it.
  state.busy.fetch_sub(1, std::memory_order_release);
}

void ResetCaptureAfterFork() { g_capture.store(nullptr, std::memory_order_seq_cst); }

}  // namespace nanolane::inject
