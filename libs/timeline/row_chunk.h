// A run of at most 512 disjoint spans, packed: the unit in which a DisjointRow is kept.
//
//   chunk  = blocks of at most 32 spans, with totals of the blocks before, per slot too
//   block  = 64-bit start of its first span, then 32-bit offsets and sums
//
// A block is closed early when the next start is 2^32 ns or more after its first, so that offsets
// fit; what may exceed 32 bits, the last span's length, is the block's total less the last sum. All
// lengths are uint64: disjoint spans of int64 times sum to less than 2^64, so that nothing here
// overflows or rounds. About 12 bytes per span. What a search reads lies together, since a view of
// many events misses the cache on every line that it touches.
//
// A slot is a small dense number that stands for a category. Thread-compatible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace nanolane::timeline {

inline constexpr size_t kMaxSlots = 16;
using SlotLengths = std::array<uint64_t, kMaxSlots>;

struct RowSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // >= start_ns
  uint32_t index = 0;  // the caller's
  uint8_t slot = 0;    // < kMaxSlots

  uint64_t length() const {
    return static_cast<uint64_t>(end_ns) - static_cast<uint64_t>(start_ns);
  }
  bool instant() const { return start_ns == end_ns; }
};

struct alignas(64) RowBlock {
  static constexpr uint32_t kSpans = 32;

  int64_t base = 0;            // start of the first span
  uint64_t length_before = 0;  // of the chunk's earlier blocks
  uint64_t length = 0;         // of all spans of the block
  uint32_t first = 0;          // spans in the chunk's earlier blocks
  uint16_t count = 0;
  uint16_t slots = 0;                   // bit s: slot s occurs
  std::array<uint32_t, kSpans> offset;  // start - base; the rest is UINT32_MAX
  std::array<uint32_t, kSpans> before;  // length of the block's earlier spans
  std::array<uint8_t, kSpans> slot;

  // Where sums per slot are kept: spans before it count in them.
  uint32_t Middle() const { return count < kSpans / 2 ? count : kSpans / 2; }
  uint64_t LengthOf(uint32_t i) const {
    return (i + 1U == count ? length : before[i + 1U]) - before[i];
  }
  uint64_t OffsetOf(int64_t time_ns) const {
    return static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(base);
  }
};

// What each of eight slots covers: one cache line.
struct alignas(64) SlotLine {
  std::array<uint64_t, 8> length = {};
};

// The blocks of a chunk, each followed by its sums: `lines` of what every slot covers in the chunk
// before the block's middle. Together, because in a view of many events nearly every block lies in
// a page of its own, and a page costs more than a line. Blocks are added, never taken away.
class RowBlocks {
 public:
  static constexpr uint32_t kMost = 16;

  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == kMost; }
  uint8_t lines() const { return lines_; }

  RowBlock& operator[](uint32_t i) { return *reinterpret_cast<RowBlock*>(At(i)); }
  const RowBlock& operator[](uint32_t i) const { return *reinterpret_cast<const RowBlock*>(At(i)); }
  RowBlock& back() { return (*this)[size_ - 1]; }
  SlotLine* SumsOf(uint32_t i) { return reinterpret_cast<SlotLine*>(At(i) + sizeof(RowBlock)); }
  const SlotLine* SumsOf(uint32_t i) const {
    return reinterpret_cast<const SlotLine*>(At(i) + sizeof(RowBlock));
  }

  RowBlock& Add();
  void SetLines(uint8_t lines);  // further lines are zero
  size_t MemoryBytes() const { return capacity_ * Stride(); }

 private:
  struct Free {
    void operator()(std::byte* storage) const;
  };
  using Storage = std::unique_ptr<std::byte, Free>;

  size_t Stride() const { return sizeof(RowBlock) + lines_ * sizeof(SlotLine); }
  std::byte* At(uint32_t i) const { return storage_.get() + i * Stride(); }
  void Move(uint8_t capacity, uint8_t lines);

  Storage storage_;
  uint8_t size_ = 0;
  uint8_t capacity_ = 0;
  uint8_t lines_ = 0;
};

// The fields are DisjointRow's to read.
struct alignas(64) RowChunk {
  static constexpr uint32_t kSpans = RowBlock::kSpans * RowBlocks::kMost;

  RowChunk() { block_base.fill(std::numeric_limits<int64_t>::max()); }

  // Adds a span that starts no earlier than the last one ends. `events`: with its index, and in the
  // sums. False: the chunk is full.
  bool Push(const RowSpan& span, bool events);
  // Makes the last span longer. Not for chunks of events.
  void ExtendLast(uint64_t by);

  RowSpan Unpack(const RowBlock& block, uint32_t i) const;
  void UnpackInto(std::vector<RowSpan>& out) const;

  size_t MemoryBytes() const;  // beyond the chunk itself

  RowBlocks blocks;
  uint64_t length_before = 0;  // of earlier chunks, as count_before and slot_before: set by the row
  uint64_t count_before = 0;
  uint64_t length = 0;
  uint32_t count = 0;
  uint32_t first_index = 0;
  uint16_t slots = 0;                                // bit s: slot s occurs
  std::array<int64_t, RowBlocks::kMost> block_base;  // of each block; the rest is INT64_MAX
  SlotLengths slot_before = {};
  SlotLengths slot_length = {};
  std::vector<uint32_t> index;  // of each span; empty where it is first_index, first_index + 1, …

 private:
  void PushIndex(uint32_t value);
  void BuildSums(uint8_t lines);
  void AddToSums(uint32_t block, uint32_t in_block);
  RowBlock& AddBlock(int64_t base);
};

}  // namespace nanolane::timeline
