// Spans that do not overlap, sorted and packed, with prefix sums: the number and the summed length
// of the spans before any time, in all and per slot, in O(log n), and for ascending times in O(1)
// each plus a gallop over what lies between. Chunks are as in row_chunk.h.
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

#include "libs/timeline/row_chunk.h"

namespace nanolane::timeline {

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

  // For rows of kTimesOnly, which are written by these two alone. start_ns < end_ns.
  // Adds [start_ns, end_ns), merged with all spans that it overlaps or touches.
  void Unite(int64_t start_ns, int64_t end_ns);
  // Takes [start_ns, end_ns) away from all spans that it overlaps.
  void Cut(int64_t start_ns, int64_t end_ns);

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

  // Places ascending `times`, of which there is one at least; `hint` carries the search on from
  // call to call. False: nothing starts or runs between the first and the last, and the probes in
  // between may not be set.
  bool Locate(std::span<const int64_t> times, Hint& hint, std::span<Probe> probes) const;
  Probe Locate(int64_t time_ns) const;

  // Number of spans that start at or before `time_ns`.
  uint64_t RankAfter(int64_t time_ns) const;

  // The slot of the last span that starts before the place. Requires probe.rank > 0.
  static uint8_t SlotBefore(const Probe& probe);

  // Whether the spans between two places are few enough to be walked by AddSlotLengths().
  static bool Near(const Probe& from, const Probe& to);

  // Adds to `lengths` what each slot covers between two places, from <= to, that are Near().
  static void AddSlotLengths(const Probe& from, const Probe& to, SlotLengths& lengths);

  // Sets the first `slots` of `lengths` to what each slot covers before the place; there are no
  // more slots in the row.
  static void SlotLengthsBefore(const Probe& probe, size_t slots, SlotLengths& lengths);

  // Bit s: a span of slot s starts between two places, from <= to.
  static uint32_t SlotsStarting(const Probe& from, const Probe& to);

  // Calls visit(RowSpan) in order of time.
  template <typename Visitor>
  void ForEach(Visitor visit) const;

  size_t MemoryBytes() const;

 private:
  static constexpr uint64_t kWalkSpans = 1;  // up to so many per time, a walk is faster
  static constexpr size_t kMostUnpacked = size_t{4} * RowChunk::kSpans;
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  void FindBlock(int64_t time_ns, Hint& hint) const;
  bool HoldsPlace(const Hint& hint, int64_t time_ns) const;
  void Step(Hint& hint) const;
  bool Sparse(std::span<const int64_t> times, const Hint& first, Hint& last) const;
  void Walk(std::span<const int64_t> times, Hint hint, std::span<Probe> probes) const;
  static void Prefetch(const RowChunk& chunk, uint32_t block);
  void SetBlock(const Hint& hint, Probe& probe) const;
  static void Search(int64_t time_ns, Probe& probe);
  static void Fill(uint32_t in_block, int64_t time_ns, Probe& probe);

  void PushBack(const RowSpan& span);
  size_t ChunkFor(int64_t start_ns) const;
  size_t AfterEdit() const { return edit_chunk_ + edit_absorbed_ + 1; }
  bool EditsLast() const { return edit_chunk_ != kNone && AfterEdit() == chunks_.size(); }
  void OpenEditFor(int64_t start_ns);
  void CloseEdit();
  std::vector<RowChunk> PackEdit() const;
  void ExtendLast(int64_t end_ns);
  bool DrawInNext(int64_t time_ns);
  void ReplaceInEdit(size_t first, size_t last, std::span<const RowSpan> by);
  void SetLast();
  void RecountFrom(size_t chunk);

  Keep keep_;
  size_t size_ = 0;
  int64_t last_start_ = 0;
  int64_t last_end_ = 0;
  std::vector<RowChunk> chunks_;
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
  const RowChunk* chunk = nullptr;  // null in an empty row
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
  for (const RowChunk& chunk : chunks_) {
    for (uint32_t b = 0; b < chunk.blocks.size(); ++b) {
      const RowBlock& block = chunk.blocks[b];
      for (uint32_t i = 0; i < block.count; ++i) visit(chunk.Unpack(block, i));
    }
  }
}

}  // namespace nanolane::timeline
