// Rows for the ranges of an NVTX thread lane: depth is nesting, not first fit.
//
// Ranges are taken in order of start; of equal starts the longer first, of equal extents the one
// that was appended first. Layer 0 is the thread's own nesting: a range is in it if it nests in
// what is open there, which means that the innermost open range ends no earlier than it does; its
// depth is the number of open ranges. A range that would cross one instead goes to the first
// further layer in which it nests, with rows of its own, so that nothing on screen looks like a
// child of what it merely overlaps. Hence no two ranges of a row (layer, depth) overlap.
//
//   A |--------------------|         layer 0, depth 0
//   B   |------|                     layer 0, depth 1
//   C             |-------------|    layer 1, depth 0   crosses A
//   D                       |-|      layer 0, depth 0   A has ended
//
// A range is open at t if it starts at or before t and ends after it. Ranges of zero length (marks;
// negative lengths count as zero) nest in what is open then, and those of one time share a row.
// Rows depend on which ranges there are and on the order of equal ones, never on how they were cut
// into blocks. Ranges usually arrive when they end, inner ones first, so rows move as outer ones
// come in: Update() says which.
//
// Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace nanolane::timeline {

class NestedRows {
 public:
  NestedRows();
  ~NestedRows();
  NestedRows(NestedRows&&) noexcept;
  NestedRows& operator=(NestedRows&&) noexcept;

  struct Row {
    uint32_t layer = 0;
    uint32_t depth = 0;

    bool operator==(const Row&) const = default;
  };

  // Parallel arrays. At most 2^32 - 1 ranges. O(1) each.
  void Append(std::span<const int64_t> start_ns, std::span<const int64_t> duration_ns);

  // Gives rows to what was appended since the last call, and returns the indices (in Append order)
  // of earlier ranges that are in another row now. For n ranges of which m lie at or after the
  // last moment before the earliest new one at which nothing is open: O(m log m), less where
  // nothing is open after the last new one. New ones that all start after the earlier: O(log n)
  // each.
  std::vector<uint32_t> Update();

  size_t size() const { return start_ns_.size(); }

  // As of the last Update(); index in Append order.
  Row RowOf(size_t index) const { return rows_[index]; }
  size_t layer_count() const { return row_sizes_.size(); }
  size_t depth_count(size_t layer) const { return row_sizes_[layer].size(); }
  size_t row_count() const;               // of all layers
  size_t NumberOf(const Row& row) const;  // 0 … row_count() - 1: layer by layer, by depth

  size_t MemoryBytes() const;

 private:
  class Sweep;

  bool Before(uint32_t a, uint32_t b) const;
  std::vector<uint32_t> TakeNew();
  void Resweep(size_t from, size_t last_new, std::vector<uint32_t>& moved);
  void Assign(uint32_t index, const Row& row, std::vector<uint32_t>& moved);
  void TrimRowSizes();

  std::vector<int64_t> start_ns_;
  std::vector<int64_t> end_ns_;
  size_t assigned_ = 0;  // the ranges before this one had a row before this Update()
  std::vector<Row> rows_;
  std::vector<uint8_t> quiet_;   // by index: nothing is open where the range starts
  std::vector<uint32_t> order_;  // the ranges in the order in which they are taken
  std::vector<std::vector<uint32_t>> row_sizes_;  // ranges by layer and depth
  std::unique_ptr<Sweep> sweep_;                  // after the last range of order_
};

}  // namespace nanolane::timeline
