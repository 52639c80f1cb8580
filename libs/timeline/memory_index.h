// Level of detail of a memory lane: the lowest, highest and last level of each pixel column, exact
// at any zoom, without touching each event.
//
// The level is a step function: each point says what holds from its time on. Points of equal time
// hold in the order in which they came, and all of them count for the lowest and the highest, so
// that an allocation freed within the same nanosecond is seen. Extremes are kept per block of 32
// and per chunk of 512 points; columns do not overlap, so that a row of columns costs O(px * 32 +
// points in the window / 512).
//
// Thread-compatible: one thread appends and reads, or appends happen-before reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libs/timeline/chunked_keys.h"
#include "libs/timeline/columns.h"

namespace nanolane::timeline {

// What the level does in one column: from the level that holds at the left edge on, which is that
// of the points at the edge if there are any, else that of the last point before it.
struct LevelColumn {
  bool known = false;  // false: the column ends before the first point; the rest is meaningless
  int64_t lowest = 0;
  int64_t highest = 0;
  int64_t last = 0;
  uint32_t changes = 0;  // points in the column; saturates

  bool operator==(const LevelColumn&) const = default;
};

class MemoryIndex {
 public:
  // Parallel arrays: times, and the level after each. Points whose level is trace::kNoLevel are not
  // taken in: the last known level goes on. In any order of time; in order is fastest (O(1) each),
  // and a late point moves at most a chunk.
  void Append(std::span<const int64_t> time_ns, std::span<const int64_t> level);

  // The level before the first point, where it is known; from then on all columns are known.
  void SetLevelBefore(int64_t level) { level_before_ = level; }

  size_t size() const { return size_; }
  int64_t first_ns() const;  // 0 when empty
  int64_t last_ns() const;   // 0 when empty

  // Of all points and the level before them; nothing when there are none. For the lane's scale.
  std::optional<int64_t> lowest() const;
  std::optional<int64_t> highest() const;

  // The level that holds at `time_ns`, if any is known.
  std::optional<int64_t> LevelAt(int64_t time_ns) const;

  // Fills `out` with the columns of the window; out.size() is the width. Columns without extent
  // (see columns.h) say what holds in the nanosecond at their edge; its changes count in the first
  // of them. Nothing is known in a window that does not end after its start.
  void Columns(const Window& window, std::span<LevelColumn> out) const;

  // Heap bytes held.
  size_t MemoryBytes() const;

 private:
  static constexpr size_t kBlockPoints = 32;

  struct Extremes {
    int64_t lowest;
    int64_t highest;

    void Include(int64_t level);
    void Include(const Extremes& other);
  };

  struct Chunk {
    Chunk SplitOff(size_t at);
    void Summarize();

    std::vector<int64_t> key;  // times
    std::vector<int64_t> level;
    bool stale = true;
    uint64_t count_before = 0;
    std::vector<Extremes> blocks;
    Extremes all;
  };

  using Place = ChunkedKeys<Chunk>::Place;

  void FillColumns(const Window& window, std::span<LevelColumn> out) const;
  LevelColumn ColumnBetween(int64_t left_ns, const Place& from, const Place& to) const;
  std::optional<int64_t> LevelBefore(const Place& place) const;
  static void Include(const Chunk& chunk, size_t from, size_t to, Extremes& extremes);

  size_t size_ = 0;
  std::optional<int64_t> level_before_;
  ChunkedKeys<Chunk> chunks_;
};

}  // namespace nanolane::timeline
