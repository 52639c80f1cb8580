// What DisjointRow answers: where times fall, and what the slots cover between them.
#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "libs/timeline/disjoint_row.h"
#include "libs/timeline/gallop.h"

namespace nanolane::timeline {

namespace {

// Eight at a time, which vectorizes.
void AssignEight(const uint64_t* from, uint64_t* to) {
  for (size_t i = 0; i < 8; ++i) to[i] = from[i];
}
void AddEight(const uint64_t* from, uint64_t* to) {
  for (size_t i = 0; i < 8; ++i) to[i] += from[i];
}

}  // namespace

uint64_t DisjointRow::length() const {
  return chunks_.empty() ? 0 : chunks_.back().length_before + chunks_.back().length;
}

RowSpan DisjointRow::At(uint64_t rank) const {
  assert(rank < size_);
  const auto after =
      std::upper_bound(chunks_.begin(), chunks_.end(), rank,
                       [](uint64_t r, const RowChunk& chunk) { return r < chunk.count_before; });
  const RowChunk& chunk = *(after - 1);
  const auto in_chunk = static_cast<uint32_t>(rank - chunk.count_before);
  uint32_t block = chunk.blocks.size() - 1;
  while (chunk.blocks[block].first > in_chunk) --block;
  return chunk.Unpack(chunk.blocks[block], in_chunk - chunk.blocks[block].first);
}

// The last block that starts before the time, or the first of all; from the hint on.
inline void DisjointRow::FindBlock(int64_t time_ns, Hint& hint) const {
  hint.chunk = GallopToLastBelow(heads_, hint.chunk, time_ns);
  hint.block = LastBelow(chunks_[hint.chunk].block_base, time_ns);
}

// Whether a time that is not before the block of `hint` falls into it.
bool DisjointRow::HoldsPlace(const Hint& hint, int64_t time_ns) const {
  const RowChunk& chunk = chunks_[hint.chunk];
  if (hint.block + 1 < chunk.blocks.size()) return time_ns <= chunk.block_base[hint.block + 1];
  return hint.chunk + 1 == heads_.size() || time_ns <= heads_[hint.chunk + 1];
}

void DisjointRow::Step(Hint& hint) const {
  if (++hint.block < chunks_[hint.chunk].blocks.size()) return;
  ++hint.chunk;
  hint.block = 0;
}

// Whether few spans lie between the times, so that a walk over them finds the places fastest; then
// sets `last` to the block of the last time. Looks into no chunk if there are many.
bool DisjointRow::Sparse(std::span<const int64_t> times, const Hint& first, Hint& last) const {
  last = first;
  if (GallopToLastBelow(heads_, first.chunk, times.back()) > first.chunk + 1) return false;
  FindBlock(times.back(), last);
  const auto rough_rank = [this](const Hint& hint) {
    return chunks_[hint.chunk].count_before + uint64_t{hint.block} * RowBlock::kSpans;
  };
  return rough_rank(last) <= rough_rank(first) + kWalkSpans * times.size();
}

// Brings what a column reads of a block into the cache. Inlined by force: g++ takes a function that
// only prefetches for one without effect and drops the calls to it.
[[gnu::always_inline]] inline void DisjointRow::Prefetch(const RowChunk& chunk,
                                                         uint32_t block_number) {
  const RowBlock& block = chunk.blocks[block_number];
  __builtin_prefetch(&block);
  __builtin_prefetch(&block.offset[8]);
  __builtin_prefetch(&block.offset[24]);
  __builtin_prefetch(&block.before[8]);
  __builtin_prefetch(&block.before[24]);
  if (chunk.blocks.lines() == 0) return;
  __builtin_prefetch(chunk.blocks.SumsOf(block_number));
  __builtin_prefetch(chunk.slot_before.data());
}

inline void DisjointRow::SetBlock(const Hint& hint, Probe& probe) const {
  probe.chunk = &chunks_[hint.chunk];
  probe.block = hint.block;
}

// Completes a probe of which the block is known.
inline void DisjointRow::Fill(uint32_t in_block, int64_t time_ns, Probe& probe) {
  const RowChunk& chunk = *probe.chunk;
  const RowBlock& block = chunk.blocks[probe.block];
  probe.in_block = in_block;
  probe.rank = chunk.count_before + block.first + in_block;
  probe.length = chunk.length_before + block.length_before;
  probe.partial = 0;
  if (in_block == 0) return;
  const uint32_t last = in_block - 1;
  probe.partial = std::min(block.OffsetOf(time_ns) - block.offset[last], block.LengthOf(last));
  probe.length += block.before[last] + probe.partial;
}

// Places times by walking the spans from the hint's block on.
void DisjointRow::Walk(std::span<const int64_t> times, Hint hint, std::span<Probe> probes) const {
  uint32_t in_block = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    for (; !HoldsPlace(hint, times[i]); in_block = 0) Step(hint);
    SetBlock(hint, probes[i]);
    const RowBlock& block = probes[i].chunk->blocks[hint.block];
    if (times[i] > block.base) {  // else before the first span of all
      const uint64_t offset = block.OffsetOf(times[i]);
      while (in_block < block.count && block.offset[in_block] < offset) ++in_block;
    }
    Fill(in_block, times[i], probes[i]);
  }
}

// Completes a probe of which the block is known, with a search in the block.
inline void DisjointRow::Search(int64_t time_ns, Probe& probe) {
  const RowBlock& block = probe.chunk->blocks[probe.block];
  uint32_t in_block = 0;
  if (time_ns > block.base) {  // else before the first span of all
    const uint64_t offset = block.OffsetOf(time_ns);
    in_block = offset > std::numeric_limits<uint32_t>::max()
                   ? block.count
                   : CountBelow(block.offset, static_cast<uint32_t>(offset));
  }
  Fill(in_block, time_ns, probe);
}

bool DisjointRow::Locate(std::span<const int64_t> times, Hint& hint,
                         std::span<Probe> probes) const {
  assert(!times.empty() && times.size() <= probes.size());
  if (chunks_.empty()) {
    std::fill_n(probes.begin(), times.size(), Probe());
    return false;
  }
  FindBlock(times.front(), hint);
  const Hint first = hint;
  if (Sparse(times, first, hint)) {
    Probe& left = probes.front();
    Probe& right = probes[times.size() - 1];
    SetBlock(first, left);
    SetBlock(hint, right);
    Search(times.front(), left);
    Search(times.back(), right);
    if (left.rank == right.rank && left.length == right.length) return false;
    Walk(times, first, probes);
    return true;
  }
  hint = first;
  for (size_t i = 0; i < times.size(); ++i) {  // all blocks on their way into the cache together
    FindBlock(times[i], hint);
    SetBlock(hint, probes[i]);
    Prefetch(*probes[i].chunk, hint.block);
  }
  for (size_t i = 0; i < times.size(); ++i) Search(times[i], probes[i]);
  return true;
}

DisjointRow::Probe DisjointRow::Locate(int64_t time_ns) const {
  Probe probe;
  Hint hint;
  Locate({&time_ns, 1}, hint, {&probe, 1});
  return probe;
}

uint64_t DisjointRow::RankAfter(int64_t time_ns) const {
  if (time_ns == std::numeric_limits<int64_t>::max()) return size_;
  return Locate(time_ns + 1).rank;
}

void DisjointRow::SlotLengthsBefore(const Probe& probe, size_t slots, SlotLengths& lengths) {
  assert(slots % 8 == 0);
  if (probe.chunk == nullptr) {
    std::fill_n(lengths.begin(), slots, 0);
    return;
  }
  const RowChunk& chunk = *probe.chunk;
  for (size_t first = 0; first < slots; first += 8) {
    AssignEight(&chunk.slot_before[first], &lengths[first]);
  }
  if (chunk.blocks.lines() == 0) {  // one slot alone
    lengths[static_cast<size_t>(std::countr_zero(chunk.slots))] +=
        probe.length - chunk.length_before;
    return;
  }
  const RowBlock& block = chunk.blocks[probe.block];
  const SlotLine* sums = chunk.blocks.SumsOf(probe.block);
  for (size_t line = 0; line < chunk.blocks.lines(); ++line) {
    AddEight(sums[line].length.data(), &lengths[8 * line]);
  }
  // From the middle on or back, to the span in which the probe is.
  const uint32_t middle = block.Middle();
  if (probe.in_block > middle) {
    const uint32_t last = probe.in_block - 1;
    for (uint32_t i = middle; i < last; ++i) {
      lengths[block.slot[i]] += block.before[i + 1] - block.before[i];
    }
    lengths[block.slot[last]] += probe.partial;
    return;
  }
  for (uint32_t i = probe.in_block; i < middle; ++i) lengths[block.slot[i]] -= block.LengthOf(i);
  if (probe.in_block > 0) {
    const uint32_t last = probe.in_block - 1;
    lengths[block.slot[last]] -= block.LengthOf(last) - probe.partial;
  }
}

void DisjointRow::AddSlotLengths(const Probe& from, const Probe& to, SlotLengths& lengths) {
  if (to.chunk == nullptr || to.in_block == 0) return;
  const RowBlock& block = to.chunk->blocks[to.block];
  const uint32_t last = to.in_block - 1;
  if (from.in_block == to.in_block) {
    lengths[block.slot[last]] += to.partial - from.partial;
    return;
  }
  if (from.in_block > 0) {
    const uint32_t first = from.in_block - 1;
    lengths[block.slot[first]] += block.LengthOf(first) - from.partial;
  }
  for (uint32_t i = from.in_block; i < last; ++i) {
    lengths[block.slot[i]] += block.before[i + 1] - block.before[i];
  }
  lengths[block.slot[last]] += to.partial;
}

uint32_t DisjointRow::SlotsStarting(const Probe& from, const Probe& to) {
  uint32_t slots = 0;
  if (from.rank == to.rank) return slots;
  const RowChunk* chunk = from.chunk;
  uint32_t block = from.block;
  uint32_t begin = from.in_block;
  while (true) {
    const bool last = chunk == to.chunk && block == to.block;
    const RowBlock& here = chunk->blocks[block];
    const uint32_t end = last ? to.in_block : here.count;
    if (begin == 0 && !last) {
      slots |= here.slots;
    } else {
      for (uint32_t i = begin; i < end; ++i) slots |= 1U << here.slot[i];
    }
    if (last) return slots;
    begin = 0;
    if (++block < chunk->blocks.size()) continue;
    for (++chunk; chunk != to.chunk; ++chunk) slots |= chunk->slots;
    block = 0;
  }
}

}  // namespace nanolane::timeline
