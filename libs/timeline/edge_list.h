// Sorted times of spans that may overlap in any way (their starts in one list, their ends in
// another), with the number of edges before any time and, per slot, their number and sum.
//
// That is enough for summed lengths without knowing which start belongs to which end: with F(t) the
// summed length before t of all spans of a slot,
//   F(t) = sum over starts < t of (t - start) - sum over ends < t of (t - end).
// Any depth of overlap costs the same: O(log n), and for ascending times a gallop. Sums are
// 128-bit: 2^32 edges of 64 bits cannot overflow them.
//
// An insertion moves at most a chunk of 512 edges. A reader sees the list as of the last Commit().
// Thread-compatible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "libs/timeline/chunked_keys.h"
#include "libs/timeline/columns.h"
#include "libs/timeline/disjoint_row.h"

namespace nanolane::timeline {

using WideSlotLengths = std::array<Wide, kMaxSlots>;

struct Edge {
  int64_t key_ns = 0;    // the list is sorted by it; equal ones in the order of insertion
  int64_t other_ns = 0;  // the span's other edge
  uint32_t index = 0;    // the caller's
  uint8_t slot = 0;      // < kMaxSlots
};

class EdgeList {
 public:
  class Cursor;

  void Insert(const Edge& edge);
  // `slot_count`: slots in use. Where there is one alone, nothing is kept per slot.
  void Commit(size_t slot_count);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  Edge At(uint64_t rank) const;           // rank < size()
  uint64_t RankOf(int64_t key) const;     // edges with a lower key
  uint64_t RankAfter(int64_t key) const;  // edges with this key or a lower one

  // The highest rank below `end` whose other edge is later than `time_ns`, or `end` if there is
  // none. Skips blocks and chunks by their latest other edge.
  uint64_t LastRunning(uint64_t end, int64_t time_ns) const;

  size_t MemoryBytes() const;

 private:
  friend class Cursor;
  static constexpr uint32_t kBlockEdges = 32;

  struct SlotSum {
    Wide key_sum = 0;
    uint64_t count = 0;
  };

  struct Chunk {
    Chunk SplitOff(size_t at);

    std::vector<int64_t> key;
    std::vector<int64_t> other;
    std::vector<uint32_t> index;
    std::vector<uint8_t> slot;
    bool stale = true;
    // Set by Commit():
    uint64_t count_before = 0;
    int64_t latest = 0;                 // other edge
    std::vector<int64_t> latest_other;  // per block
    std::vector<SlotSum> sums;          // row b: the chunk's blocks before b; one more row
    std::vector<SlotSum> before;        // earlier chunks
  };

  void Summarize(Chunk& chunk) const;

  size_t size_ = 0;
  size_t slot_count_ = 0;
  ChunkedKeys<Chunk> chunks_;
};

// Walks a committed list in ascending time.
class EdgeList::Cursor {
 public:
  explicit Cursor(const EdgeList& list) : list_(&list) {}

  // Places the cursor at `time_ns`, no earlier than at the last call. Returns the edges before it.
  uint64_t Seek(int64_t time_ns);

  // Adds sign * sum over the edges before the cursor of (time_ns - key), per slot. Requires more
  // than one slot.
  void AddLengths(int64_t time_ns, int sign, WideSlotLengths& lengths) const;

 private:
  const EdgeList* list_;
  ChunkedKeys<Chunk>::Place place_;
};

}  // namespace nanolane::timeline
