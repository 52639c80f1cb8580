// What rows say of columns by label, as it is read: one block of cells for each column of each row.
// A cell is 8 bytes (label, weight), or two where the weight passes 32 bits. When there are many
// cells, the blocks of each column are put together, so that memory is in proportion to the columns
// times the labels in each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libs/timeline/tiles/label_tally.h"

namespace nanolane::timeline {

class RowWeights {
 public:
  struct Cell {
    uint32_t label;
    uint32_t low;  // of the weight; the high half is in the next cell's `low` in a wide block
  };
  struct Block {
    uint32_t column;
    bool wide;  // two cells a weight
    std::span<const Cell> cells;
  };

  // Keeps its memory.
  void Clear();

  // Takes the tally's weights, of which none passes `greatest`, as a block; empties the tally.
  void Add(uint32_t column, uint64_t greatest, LabelTally& tally);

  // By column.
  const std::vector<Block>& Sorted();

  // Calls visit(label, weight) for all of a block.
  template <typename Visit>
  static void ForEach(const Block& block, Visit visit) {
    if (!block.wide) {
      for (const Cell& cell : block.cells) visit(cell.label, uint64_t{cell.low});
      return;
    }
    for (size_t i = 0; i < block.cells.size(); i += 2) {
      visit(block.cells[i].label, uint64_t{block.cells[i + 1].low} << 32U | block.cells[i].low);
    }
  }

 private:
  static constexpr size_t kChunkCells = 8'000;  // 64 kB: below what malloc maps by itself
  static constexpr size_t kFewCells = size_t{1} << 21U;
  // Columns whose greatest weight lies below this are put together: sums stay in 64 bits.
  static constexpr uint64_t kNarrow = uint64_t{1} << 40U;

  // Of a fixed size, as blocks point into it.
  struct Chunk {
    std::unique_ptr<Cell[]> cells;
    size_t capacity = 0;
    size_t used = 0;
  };

  Cell* Allocate(size_t cells);
  void Append(uint32_t column, uint64_t greatest, LabelTally& tally);
  void Compact(LabelTally& tally);

  std::vector<Chunk> chunks_;
  size_t chunk_at_ = 0;  // the chunk that is being filled
  std::vector<Block> blocks_;
  size_t cells_ = 0;
  size_t limit_ = kFewCells;
  uint64_t greatest_ = 0;
};

}  // namespace nanolane::timeline
