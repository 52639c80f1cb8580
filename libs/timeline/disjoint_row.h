// Spans that do not overlap, sorted and packed, with prefix sums: the number and the summed length
// of the spans before any time, in all and per slot (a small dense number for a category), in
// O(log n), and for ascending times in O(1) each plus a gallop over what lies between.
//
//   row    = chunks of at most 512 spans, with totals of the chunks before
//   chunk  = blocks of at most 32 spans, with totals of the blocks before, per slot too
//   block  = 64-bit start of its first span, then 32-bit offsets and sums
//
// A block is closed early when the next start is 2^32 ns or more after its first, so that offsets
// fit; what may exceed 32 bits, the last span's length, is the block's total less the last sum. All
// lengths are uint64: disjoint spans of int64 times sum to less than 2^64, so that nothing here
// overflows or rounds. About 12 bytes per span.
//
// Writing at the end is O(1). Writing elsewhere unpacks the chunk concerned, which stays unpacked
// until another one is, or until Commit(). A reader sees the row as of the last Commit().
// Thread-compatible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
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
  bool operator==(const RowSpan&) const = default;
};

class DisjointRow {
 public:
  enum class Keep { kSpans, kTimesOnly };  // kTimesOnly: slots and indices are not kept

  // Where a time falls in the row. Valid until the row is written to.
  struct Probe;

  explicit DisjointRow(Keep keep) : keep_(keep) {}

  // --- Writing. Call Commit() before reading again. ---

  // Adds a span if it overlaps none that is there; an instant overlaps a span that starts before
  // and ends after it. Of equal starts, instants come first, in the order in which they were added.
  bool TryAdd(const RowSpan& span);

  // Adds [start_ns, end_ns), merged with all spans that it overlaps or touches. For rows of
  // kTimesOnly that are written by Unite() alone.
  void Unite(int64_t start_ns, int64_t end_ns);

  void Commit();

  // --- Reading. ---

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t last_end_ns() const { return last_end_; }  // meaningless when empty
  uint64_t length() const;                           // of all spans

  // The span at `rank` (< size()) in order of time.
  RowSpan At(uint64_t rank) const;

  // Where the search for ascending times has come to.
  struct Hint {
    size_t chunk = 0;
    uint32_t block = 0;
  };

  // Places ascending `times`, at most kMaxTimes; `hint` carries the search on from call to call.
  static constexpr size_t kMaxTimes = 32;
  void Locate(std::span<const int64_t> times, Hint& hint, std::span<Probe> probes) const;
  Probe Locate(int64_t time_ns) const;

  // Number of spans that start at or before `time_ns`.
  uint64_t RankAfter(int64_t time_ns) const;

  // The slot of the last span that starts before the place. Requires probe.rank > 0.
  static uint8_t SlotBefore(const Probe& probe);

  // Whether the spans between two places are few enough to be walked by AddSlotLengths().
  static bool Near(const Probe& from, const Probe& to);

  // Adds to `lengths` what each slot covers between two places, from <= to, that are Near().
  static void AddSlotLengths(const Probe& from, const Probe& to, SlotLengths& lengths);

  // Sets `lengths` to what each slot covers before the place.
  static void SlotLengthsBefore(const Probe& probe, SlotLengths& lengths);

  // Bit s: a span of slot s starts between two places, from <= to.
  static uint32_t SlotsStarting(const Probe& from, const Probe& to);

  // Calls visit(RowSpan) in order of time.
  template <typename Visitor>
  void ForEach(Visitor visit) const;

  size_t MemoryBytes() const;

 private:
  static constexpr uint32_t kBlockSpans = 32;
  static constexpr uint32_t kChunkBlocks = 16;
  static constexpr uint32_t kChunkSpans = kBlockSpans * kChunkBlocks;
  static constexpr uint64_t kWalkSpans = 4;  // up to so many per time, a walk is faster
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  struct alignas(64) Block {
    int64_t base = 0;            // start of the first span
    uint64_t length_before = 0;  // of the chunk's earlier blocks
    uint64_t length = 0;         // of all spans of the block
    uint32_t first = 0;          // spans in the chunk's earlier blocks
    uint16_t count = 0;
    uint16_t slots = 0;                        // bit s: slot s occurs
    std::array<uint32_t, kBlockSpans> offset;  // start - base; the rest is UINT32_MAX
    std::array<uint32_t, kBlockSpans> before;  // length of the block's earlier spans
    std::array<uint8_t, kBlockSpans> slot;

    uint64_t LengthOf(uint32_t i) const {
      return (i + 1U == count ? length : before[i + 1U]) - before[i];
    }
  };

  struct alignas(64) Chunk {
    Chunk() { block_base.fill(std::numeric_limits<int64_t>::max()); }

    uint64_t length = 0;
    uint64_t length_before = 0;  // of earlier chunks, as all *_before: set by Commit()
    uint64_t count_before = 0;
    std::vector<Block> blocks;
    uint32_t count = 0;
    uint32_t first_index = 0;
    uint16_t slots = 0;
    uint8_t stride = 0;  // slots per row of `sums`
    std::array<int64_t, kChunkBlocks> block_base;
    SlotLengths slot_before = {};
    std::vector<uint64_t> sums;  // row b: length per slot of the blocks before b; one more row
    std::vector<uint32_t> index;  // of each span; empty where it is first_index, first_index + 1, …
  };

  void FindBlock(int64_t time_ns, Hint& hint) const;
  bool HoldsPlace(const Hint& hint, int64_t time_ns) const;
  void Step(Hint& hint) const;
  static void Prefetch(const Chunk& chunk, uint32_t block);
  Probe ProbeIn(const Hint& hint, int64_t time_ns) const;
  static Probe ProbeAt(const Chunk& chunk, uint32_t block, uint32_t in_block, int64_t time_ns);
  void Walk(std::span<const int64_t> times, Hint hint, std::span<Probe> probes) const;
  bool Push(Chunk& chunk, const RowSpan& span);
  void PushIndex(Chunk& chunk, uint32_t index);
  void PushBack(const RowSpan& span);
  static void AddToSums(Chunk& chunk, const RowSpan& span, bool new_block);
  RowSpan Unpack(const Chunk& chunk, const Block& block, uint32_t i) const;
  void UnpackInto(const Chunk& chunk, std::vector<RowSpan>& out) const;
  size_t ChunkFor(int64_t start_ns) const;
  void OpenEdit(size_t chunk);
  void CloseEdit();
  std::vector<Chunk> PackEdit();
  void ExtendLast(int64_t end_ns);
  void RecountFrom(size_t chunk);

  Keep keep_;
  size_t size_ = 0;
  int64_t last_start_ = 0;
  int64_t last_end_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<int64_t> heads_;  // start of the first span of each chunk
  size_t stale_from_ = kNone;   // chunks from here on have old *_before

  // The chunk that is being edited, and the chunks after it that were drawn into the edit.
  size_t edit_chunk_ = kNone;
  size_t edit_absorbed_ = 0;
  bool edit_changed_ = false;
  std::vector<RowSpan> edit_;
};

struct DisjointRow::Probe {
  uint64_t rank = 0;     // spans that start before the time
  uint64_t length = 0;   // of the spans' parts before the time
  uint64_t partial = 0;  // of that, the part in the last span that starts before the time

 private:
  friend class DisjointRow;
  const Chunk* chunk = nullptr;  // null in an empty row
  uint32_t block = 0;
  uint32_t in_block = 0;  // spans of the block that start before the time
};

inline uint8_t DisjointRow::SlotBefore(const Probe& probe) {
  return probe.chunk->blocks[probe.block].slot[probe.in_block - 1];
}

inline bool DisjointRow::Near(const Probe& from, const Probe& to) {
  return from.chunk == to.chunk && from.block == to.block;
}

template <typename Visitor>
void DisjointRow::ForEach(Visitor visit) const {
  for (const Chunk& chunk : chunks_) {
    for (const Block& block : chunk.blocks) {
      for (uint32_t i = 0; i < block.count; ++i) visit(Unpack(chunk, block, i));
    }
  }
}

}  // namespace nanolane::timeline
