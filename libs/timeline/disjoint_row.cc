#include "libs/timeline/disjoint_row.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "libs/timeline/gallop.h"

namespace nanolane::timeline {

namespace {

constexpr uint32_t kPad = std::numeric_limits<uint32_t>::max();

bool StartsBefore(int64_t start_ns, const RowSpan& span) { return start_ns < span.start_ns; }

}  // namespace

// --- Packing ---

void DisjointRow::AddToSums(Chunk& chunk, const RowSpan& span, bool new_block) {
  if (span.slot >= chunk.stride) {  // widen every row
    const size_t wide = span.slot + 1U;
    const size_t rows = chunk.stride == 0 ? 1 : chunk.sums.size() / chunk.stride;
    std::vector<uint64_t> widened(rows * wide, 0);
    for (size_t row = 0; row < rows; ++row) {
      for (size_t slot = 0; slot < chunk.stride; ++slot) {
        widened[row * wide + slot] = chunk.sums[row * chunk.stride + slot];
      }
    }
    chunk.sums = std::move(widened);
    chunk.stride = static_cast<uint8_t>(wide);
  }
  if (new_block) {
    const size_t last_row = chunk.sums.size() - chunk.stride;
    chunk.sums.resize(chunk.sums.size() + chunk.stride);
    std::copy_n(chunk.sums.begin() + static_cast<ptrdiff_t>(last_row), chunk.stride,
                chunk.sums.end() - chunk.stride);
  }
  chunk.sums[chunk.sums.size() - chunk.stride + span.slot] += span.length();
}

void DisjointRow::PushIndex(Chunk& chunk, uint32_t index) {
  if (chunk.count == 0) {
    chunk.first_index = index;
  } else if (!chunk.index.empty()) {
    chunk.index.push_back(index);
  } else if (index != chunk.first_index + chunk.count) {
    chunk.index.resize(chunk.count);
    std::iota(chunk.index.begin(), chunk.index.end(), chunk.first_index);
    chunk.index.push_back(index);
  }
}

// False: the chunk is full.
bool DisjointRow::Push(Chunk& chunk, const RowSpan& span) {
  assert(span.slot < kMaxSlots);
  uint64_t offset = 0;
  bool new_block = chunk.blocks.empty();
  if (!new_block) {
    const Block& last = chunk.blocks.back();
    offset = static_cast<uint64_t>(span.start_ns) - static_cast<uint64_t>(last.base);
    new_block = last.count == kBlockSpans || offset > kPad;
  }
  if (new_block) {
    if (chunk.blocks.size() == kChunkBlocks) return false;
    Block& block = chunk.blocks.emplace_back();
    block.base = span.start_ns;
    block.length_before = chunk.length;
    block.first = chunk.count;
    block.offset.fill(kPad);
    chunk.block_base[chunk.blocks.size() - 1] = span.start_ns;
    offset = 0;
  }
  Block& block = chunk.blocks.back();
  const auto slot_bit = static_cast<uint16_t>(1U << span.slot);
  block.offset[block.count] = static_cast<uint32_t>(offset);
  block.before[block.count] = static_cast<uint32_t>(block.length);  // at most `offset`
  block.slot[block.count] = span.slot;
  block.length += span.length();
  block.slots |= slot_bit;
  ++block.count;
  if (keep_ == Keep::kSpans) {
    PushIndex(chunk, span.index);
    AddToSums(chunk, span, new_block);
  }
  chunk.slots |= slot_bit;
  chunk.length += span.length();
  ++chunk.count;
  return true;
}

RowSpan DisjointRow::Unpack(const Chunk& chunk, const Block& block, uint32_t i) const {
  RowSpan span;
  const uint64_t start = static_cast<uint64_t>(block.base) + block.offset[i];
  span.start_ns = static_cast<int64_t>(start);
  span.end_ns = static_cast<int64_t>(start + block.LengthOf(i));
  span.slot = block.slot[i];
  if (keep_ == Keep::kSpans) {
    const uint32_t at = block.first + i;
    span.index = chunk.index.empty() ? chunk.first_index + at : chunk.index[at];
  }
  return span;
}

void DisjointRow::UnpackInto(const Chunk& chunk, std::vector<RowSpan>& out) const {
  for (const Block& block : chunk.blocks) {
    for (uint32_t i = 0; i < block.count; ++i) out.push_back(Unpack(chunk, block, i));
  }
}

// --- Writing ---

void DisjointRow::PushBack(const RowSpan& span) {
  last_start_ = span.start_ns;
  last_end_ = span.end_ns;
  ++size_;
  if (edit_chunk_ != kNone && edit_chunk_ + edit_absorbed_ + 1 == chunks_.size()) {
    edit_.push_back(span);
    edit_changed_ = true;
    if (edit_.size() >= size_t{4} * kChunkSpans) CloseEdit();
    return;
  }
  if (chunks_.empty() || !Push(chunks_.back(), span)) {
    stale_from_ = std::min(stale_from_, chunks_.size());
    heads_.push_back(span.start_ns);
    Push(chunks_.emplace_back(), span);
  }
}

// The chunk into which a span of this start goes; a chunk drawn into the edit counts as the edited.
size_t DisjointRow::ChunkFor(int64_t start_ns) const {
  const auto after = std::upper_bound(heads_.begin(), heads_.end(), start_ns);
  const auto chunk = static_cast<size_t>(std::max<ptrdiff_t>(after - heads_.begin() - 1, 0));
  if (edit_chunk_ != kNone && chunk > edit_chunk_ && chunk <= edit_chunk_ + edit_absorbed_) {
    return edit_chunk_;
  }
  return chunk;
}

void DisjointRow::OpenEdit(size_t chunk) {
  if (edit_chunk_ == chunk) return;
  assert(edit_chunk_ == kNone);
  edit_chunk_ = chunk;
  edit_.clear();
  UnpackInto(chunks_[chunk], edit_);
}

std::vector<DisjointRow::Chunk> DisjointRow::PackEdit() {
  // The last chunk is filled to the brim, because more will follow it; others are split evenly, so
  // that there is room for more late spans.
  const bool last = edit_chunk_ + edit_absorbed_ + 1 == chunks_.size();
  const size_t parts = (edit_.size() + kChunkSpans - 1) / kChunkSpans;
  const size_t per_part = last ? kChunkSpans : (edit_.size() + parts - 1) / parts;
  std::vector<Chunk> packed;
  for (const RowSpan& span : edit_) {
    if (packed.empty() || packed.back().count >= per_part || !Push(packed.back(), span)) {
      Push(packed.emplace_back(), span);
    }
  }
  return packed;
}

void DisjointRow::CloseEdit() {
  if (edit_chunk_ == kNone) return;
  if (edit_changed_) {
    std::vector<Chunk> packed = PackEdit();
    const auto at = static_cast<ptrdiff_t>(edit_chunk_);
    const auto old_end = at + static_cast<ptrdiff_t>(edit_absorbed_) + 1;
    std::vector<int64_t> heads;
    for (const Chunk& chunk : packed) heads.push_back(chunk.blocks.front().base);
    if (packed.size() == edit_absorbed_ + 1) {
      std::move(packed.begin(), packed.end(), chunks_.begin() + at);
      std::copy(heads.begin(), heads.end(), heads_.begin() + at);
    } else {
      chunks_.erase(chunks_.begin() + at, chunks_.begin() + old_end);
      chunks_.insert(chunks_.begin() + at, std::make_move_iterator(packed.begin()),
                     std::make_move_iterator(packed.end()));
      heads_.erase(heads_.begin() + at, heads_.begin() + old_end);
      heads_.insert(heads_.begin() + at, heads.begin(), heads.end());
    }
    stale_from_ = std::min(stale_from_, edit_chunk_);
  }
  edit_chunk_ = kNone;
  edit_absorbed_ = 0;
  edit_changed_ = false;
}

bool DisjointRow::TryAdd(const RowSpan& span) {
  if (empty() || span.start_ns >= last_end_) {
    PushBack(span);
    return true;
  }
  if (span.start_ns > last_start_ || (span.start_ns == last_start_ && !span.instant())) {
    return false;  // inside the last span
  }
  const size_t chunk = ChunkFor(span.start_ns);
  if (edit_chunk_ != chunk) CloseEdit();
  OpenEdit(ChunkFor(span.start_ns));  // closing may have split chunks
  auto at = std::upper_bound(edit_.begin(), edit_.end(), span.start_ns, StartsBefore);
  if (at != edit_.begin() && (at - 1)->end_ns > span.start_ns) {
    if (!span.instant() || (at - 1)->start_ns != span.start_ns) return false;
    --at;  // an instant where a span starts: before it
  } else if (at != edit_.end()) {
    if (at->start_ns < span.end_ns) return false;
  } else if (edit_chunk_ + edit_absorbed_ + 1 < heads_.size()) {
    if (heads_[edit_chunk_ + edit_absorbed_ + 1] < span.end_ns) return false;
  }
  if (at == edit_.begin()) heads_[edit_chunk_] = span.start_ns;
  edit_.insert(at, span);
  edit_changed_ = true;
  ++size_;
  if (edit_.size() >= size_t{4} * kChunkSpans) CloseEdit();
  return true;
}

void DisjointRow::ExtendLast(int64_t end_ns) {
  const uint64_t more = static_cast<uint64_t>(end_ns) - static_cast<uint64_t>(last_end_);
  last_end_ = end_ns;
  if (edit_chunk_ != kNone && edit_chunk_ + edit_absorbed_ + 1 == chunks_.size()) {
    edit_.back().end_ns = end_ns;
    edit_changed_ = true;
    return;
  }
  chunks_.back().blocks.back().length += more;
  chunks_.back().length += more;
}

void DisjointRow::Unite(int64_t start_ns, int64_t end_ns) {
  assert(keep_ == Keep::kTimesOnly && start_ns < end_ns);
  if (empty() || start_ns > last_end_) {
    PushBack({.start_ns = start_ns, .end_ns = end_ns});
    return;
  }
  if (start_ns >= last_start_) {
    if (end_ns > last_end_) ExtendLast(end_ns);
    return;
  }
  const size_t chunk = ChunkFor(start_ns);
  if (edit_chunk_ != chunk) CloseEdit();
  OpenEdit(ChunkFor(start_ns));
  auto first = static_cast<size_t>(
      std::upper_bound(edit_.begin(), edit_.end(), start_ns, StartsBefore) - edit_.begin());
  if (first > 0 && edit_[first - 1].end_ns >= start_ns) {
    --first;
    start_ns = edit_[first].start_ns;
    if (edit_[first].end_ns >= end_ns) return;
  }
  size_t last = first;  // [first, last) is merged
  size_t merged = 0;
  while (true) {
    for (; last < edit_.size() && edit_[last].start_ns <= end_ns; ++last, ++merged) {
      end_ns = std::max(end_ns, edit_[last].end_ns);
    }
    const size_t next = edit_chunk_ + edit_absorbed_ + 1;
    if (last < edit_.size() || next >= chunks_.size() || heads_[next] > end_ns) break;
    edit_.resize(first);
    UnpackInto(chunks_[next], edit_);
    ++edit_absorbed_;
    last = first;
  }
  const auto at = edit_.begin() + static_cast<ptrdiff_t>(first);
  edit_.insert(edit_.erase(at, at + static_cast<ptrdiff_t>(last - first)),
               {.start_ns = start_ns, .end_ns = end_ns});
  edit_changed_ = true;
  size_ = size_ + 1 - merged;
  if (first == 0) heads_[edit_chunk_] = start_ns;
  if (edit_chunk_ + edit_absorbed_ + 1 == chunks_.size()) {
    last_start_ = edit_.back().start_ns;
    last_end_ = edit_.back().end_ns;
  }
  if (edit_.size() >= size_t{4} * kChunkSpans) CloseEdit();
}

void DisjointRow::RecountFrom(size_t chunk) {
  for (size_t i = std::max<size_t>(chunk, 1); i < chunks_.size(); ++i) {
    const Chunk& before = chunks_[i - 1];
    Chunk& here = chunks_[i];
    here.count_before = before.count_before + before.count;
    here.length_before = before.length_before + before.length;
    here.slot_before = before.slot_before;
    for (size_t slot = 0; slot < before.stride; ++slot) {
      here.slot_before[slot] += before.sums[before.sums.size() - before.stride + slot];
    }
  }
}

void DisjointRow::Commit() {
  CloseEdit();
  if (stale_from_ != kNone) RecountFrom(stale_from_);
  stale_from_ = kNone;
}

// --- Reading ---

uint64_t DisjointRow::length() const {
  return chunks_.empty() ? 0 : chunks_.back().length_before + chunks_.back().length;
}

RowSpan DisjointRow::At(uint64_t rank) const {
  assert(rank < size_);
  const auto chunk =
      std::upper_bound(chunks_.begin(), chunks_.end(), rank,
                       [](uint64_t r, const Chunk& c) { return r < c.count_before; }) -
      1;
  const auto in_chunk = static_cast<uint32_t>(rank - chunk->count_before);
  const auto block = std::upper_bound(chunk->blocks.begin(), chunk->blocks.end(), in_chunk,
                                      [](uint32_t r, const Block& b) { return r < b.first; }) -
                     1;
  return Unpack(*chunk, *block, in_chunk - block->first);
}

void DisjointRow::FindBlock(int64_t time_ns, Hint& hint) const {
  hint.chunk = GallopToLastBelow(heads_, hint.chunk, time_ns);
  hint.block = LastBelow(chunks_[hint.chunk].block_base, time_ns);
}

// Whether a time that is not before the block of `hint` falls into it.
bool DisjointRow::HoldsPlace(const Hint& hint, int64_t time_ns) const {
  const Chunk& chunk = chunks_[hint.chunk];
  if (hint.block + 1 < chunk.blocks.size()) return time_ns <= chunk.block_base[hint.block + 1];
  return hint.chunk + 1 == heads_.size() || time_ns <= heads_[hint.chunk + 1];
}

void DisjointRow::Step(Hint& hint) const {
  if (++hint.block < chunks_[hint.chunk].blocks.size()) return;
  ++hint.chunk;
  hint.block = 0;
}

void DisjointRow::Prefetch(const Chunk& chunk, uint32_t block_number) {
  const Block& block = chunk.blocks[block_number];
  __builtin_prefetch(&block);
  __builtin_prefetch(&block.offset[8]);
  __builtin_prefetch(&block.offset[24]);
  __builtin_prefetch(&block.before[8]);
  __builtin_prefetch(&block.before[24]);
  __builtin_prefetch(chunk.slot_before.data());
  const uint64_t* sums = chunk.sums.data() + size_t{block_number} * chunk.stride;
  __builtin_prefetch(sums);
  __builtin_prefetch(sums + 2 * chunk.stride - 1);
}

DisjointRow::Probe DisjointRow::ProbeAt(const Chunk& chunk, uint32_t block_number,
                                        uint32_t in_block, int64_t time_ns) {
  const Block& block = chunk.blocks[block_number];
  Probe probe;
  probe.chunk = &chunk;
  probe.block = block_number;
  probe.in_block = in_block;
  probe.rank = chunk.count_before + block.first + in_block;
  probe.length = chunk.length_before + block.length_before;
  if (in_block > 0) {
    const uint32_t last = in_block - 1;
    const uint64_t offset = static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(block.base);
    probe.partial = std::min(offset - block.offset[last], block.LengthOf(last));
    probe.length += block.before[last] + probe.partial;
  }
  return probe;
}

DisjointRow::Probe DisjointRow::ProbeIn(const Hint& hint, int64_t time_ns) const {
  const Chunk& chunk = chunks_[hint.chunk];
  const Block& block = chunk.blocks[hint.block];
  uint32_t in_block = 0;
  if (time_ns > block.base) {  // else before the first span of all
    const uint64_t offset = static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(block.base);
    in_block =
        offset > kPad ? block.count : CountBelow(block.offset, static_cast<uint32_t>(offset));
  }
  return ProbeAt(chunk, hint.block, in_block, time_ns);
}

// Places times by walking the spans from the hint's block on.
void DisjointRow::Walk(std::span<const int64_t> times, Hint hint, std::span<Probe> probes) const {
  uint32_t in_block = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    for (; !HoldsPlace(hint, times[i]); in_block = 0) Step(hint);
    const Chunk& chunk = chunks_[hint.chunk];
    const Block& block = chunk.blocks[hint.block];
    if (times[i] > block.base) {
      const uint64_t offset = static_cast<uint64_t>(times[i]) - static_cast<uint64_t>(block.base);
      while (in_block < block.count && block.offset[in_block] < offset) ++in_block;
    }
    probes[i] = ProbeAt(chunk, hint.block, in_block, times[i]);
  }
}

void DisjointRow::Locate(std::span<const int64_t> times, Hint& hint,
                         std::span<Probe> probes) const {
  if (chunks_.empty()) {
    std::fill_n(probes.begin(), times.size(), Probe());
    return;
  }
  if (times.empty()) return;
  FindBlock(times.front(), hint);
  const Hint first = hint;
  FindBlock(times.back(), hint);
  const uint64_t spans = ProbeIn(hint, times.back()).rank - chunks_[first.chunk].count_before -
                         chunks_[first.chunk].blocks[first.block].first;
  if (spans <= kWalkSpans * times.size()) return Walk(times, first, probes);
  std::array<Hint, kMaxTimes> places;
  places[0] = first;
  for (size_t i = 0; i < times.size(); ++i) {
    if (i > 0) places[i] = places[i - 1];
    FindBlock(times[i], places[i]);
    Prefetch(chunks_[places[i].chunk], places[i].block);
  }
  for (size_t i = 0; i < times.size(); ++i) probes[i] = ProbeIn(places[i], times[i]);
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

void DisjointRow::SlotLengthsBefore(const Probe& probe, SlotLengths& lengths) {
  if (probe.chunk == nullptr) {
    lengths = {};
    return;
  }
  const Chunk& chunk = *probe.chunk;
  const Block& block = chunk.blocks[probe.block];
  // From the nearer end of the block.
  const bool from_end = probe.in_block > block.count / 2U;
  const uint64_t* sums = &chunk.sums[size_t{probe.block + (from_end ? 1U : 0U)} * chunk.stride];
  lengths = chunk.slot_before;
  for (size_t slot = 0; slot < chunk.stride; ++slot) lengths[slot] += sums[slot];
  if (probe.in_block == 0) return;
  const uint32_t last = probe.in_block - 1;
  if (!from_end) {
    lengths[block.slot[last]] += probe.partial;
    for (uint32_t i = 0; i < last; ++i) {
      lengths[block.slot[i]] += block.before[i + 1] - block.before[i];
    }
    return;
  }
  lengths[block.slot[last]] -= block.LengthOf(last) - probe.partial;
  for (uint32_t i = probe.in_block; i < block.count; ++i) {
    lengths[block.slot[i]] -= block.LengthOf(i);
  }
}

void DisjointRow::AddSlotLengths(const Probe& from, const Probe& to, SlotLengths& lengths) {
  if (to.chunk == nullptr || to.in_block == 0) return;
  const Block& block = to.chunk->blocks[to.block];
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
  const Chunk* chunk = from.chunk;
  uint32_t block = from.block;
  uint32_t begin = from.in_block;
  while (true) {
    const bool last = chunk == to.chunk && block == to.block;
    const Block& here = chunk->blocks[block];
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

size_t DisjointRow::MemoryBytes() const {
  size_t bytes = chunks_.capacity() * sizeof(Chunk) + heads_.capacity() * sizeof(int64_t) +
                 edit_.capacity() * sizeof(RowSpan);
  for (const Chunk& chunk : chunks_) {
    bytes += chunk.blocks.capacity() * sizeof(Block) + chunk.sums.capacity() * sizeof(uint64_t) +
             chunk.index.capacity() * sizeof(uint32_t);
  }
  return bytes;
}

}  // namespace nanolane::timeline
