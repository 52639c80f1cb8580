#include "libs/timeline/tiles/row_weights.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace nanolane::timeline {

void RowWeights::Add(uint32_t column, uint64_t greatest, LabelTally& tally) {
  Append(column, greatest, tally);
  if (cells_ >= limit_ && greatest_ < kNarrow) Compact(tally);
}

void RowWeights::Clear() {
  for (Chunk& chunk : chunks_) chunk.used = 0;
  chunk_at_ = 0;
  blocks_.clear();
  cells_ = 0;
  limit_ = kFewCells;
  greatest_ = 0;
}

RowWeights::Cell* RowWeights::Allocate(size_t cells) {
  while (chunk_at_ < chunks_.size() &&
         chunks_[chunk_at_].capacity - chunks_[chunk_at_].used < cells) {
    ++chunk_at_;
  }
  if (chunk_at_ == chunks_.size()) {
    const size_t capacity = std::max(kChunkCells, cells);
    chunks_.push_back({std::make_unique_for_overwrite<Cell[]>(capacity), capacity, 0});
  }
  Chunk& chunk = chunks_[chunk_at_];
  Cell* const at = chunk.cells.get() + chunk.used;
  chunk.used += cells;
  return at;
}

void RowWeights::Append(uint32_t column, uint64_t greatest, LabelTally& tally) {
  const bool wide = greatest > std::numeric_limits<uint32_t>::max();
  const size_t cells = tally.size() * (wide ? 2 : 1);
  if (cells == 0) return;
  Cell* cell = Allocate(cells);
  blocks_.push_back({column, wide, std::span<const Cell>(cell, cells)});
  tally.Drain([&cell, wide](uint32_t label, uint64_t weight) {
    *cell++ = {label, static_cast<uint32_t>(weight)};
    if (wide) *cell++ = {label, static_cast<uint32_t>(weight >> 32U)};
  });
  cells_ += cells;
  greatest_ = std::max(greatest_, greatest);
}

const std::vector<RowWeights::Block>& RowWeights::Sorted() {
  const auto by_column = [](const Block& a, const Block& b) { return a.column < b.column; };
  if (!std::is_sorted(blocks_.begin(), blocks_.end(), by_column)) {
    std::stable_sort(blocks_.begin(), blocks_.end(), by_column);
  }
  return blocks_;
}

// `tally`, which is empty, is used and left empty.
void RowWeights::Compact(LabelTally& tally) {
  Sorted();
  const std::vector<Chunk> old_chunks = std::exchange(chunks_, {});
  const std::vector<Block> old_blocks = std::exchange(blocks_, {});
  cells_ = chunk_at_ = 0;
  for (size_t i = 0; i < old_blocks.size();) {
    const uint32_t column = old_blocks[i].column;
    uint64_t sum = 0;
    for (; i < old_blocks.size() && old_blocks[i].column == column; ++i) {
      ForEach(old_blocks[i], [&](uint32_t label, uint64_t weight) {
        tally.Add(label, weight);
        sum += weight;
      });
    }
    Append(column, sum, tally);
  }
  limit_ = std::max(kFewCells, cells_ * 2);
}

}  // namespace nanolane::timeline
