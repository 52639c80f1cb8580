#include "libs/timeline/row_chunk.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>
#include <numeric>
#include <type_traits>
#include <utility>

namespace nanolane::timeline {

namespace {

constexpr uint32_t kPad = std::numeric_limits<uint32_t>::max();

}  // namespace

void RowBlocks::Free::operator()(std::byte* storage) const {
  ::operator delete (storage, std::align_val_t{alignof(RowBlock)});
}

void RowBlocks::Move(uint8_t capacity, uint8_t lines) {
  static_assert(std::is_trivially_copyable_v<RowBlock> && std::is_trivially_copyable_v<SlotLine>);
  RowBlocks to;
  to.capacity_ = capacity;
  to.lines_ = lines;
  to.storage_.reset(static_cast<std::byte*>(
      ::operator new (capacity* to.Stride(), std::align_val_t{alignof(RowBlock)})));
  for (; to.size_ < size_; ++to.size_) {
    ::new (to.At(to.size_)) RowBlock((*this)[to.size_]);
    for (uint8_t line = 0; line < lines; ++line) {
      ::new (to.SumsOf(to.size_) + line)
          SlotLine(line < lines_ ? SumsOf(to.size_)[line] : SlotLine());
    }
  }
  *this = std::move(to);
}

RowBlock& RowBlocks::Add() {
  if (size_ == capacity_) {
    Move(static_cast<uint8_t>(std::max(1, 2 * capacity_)), lines_);
  }
  ++size_;
  for (uint8_t line = 0; line < lines_; ++line) ::new (SumsOf(size_ - 1U) + line) SlotLine();
  return *::new (&back()) RowBlock();
}

void RowBlocks::SetLines(uint8_t lines) { Move(capacity_, lines); }

RowBlock& RowChunk::AddBlock(int64_t base) {
  block_base[blocks.size()] = base;
  RowBlock& block = blocks.Add();
  block.base = base;
  block.length_before = length;
  block.first = count;
  block.offset.fill(kPad);
  return block;
}

// Counts a span in, the `in_block`-th of its block, all earlier ones being counted.
void RowChunk::AddToSums(uint32_t block, uint32_t in_block) {
  const uint8_t slot = blocks[block].slot[in_block];
  const uint64_t span_length = blocks[block].LengthOf(in_block);
  SlotLine* sums = blocks.SumsOf(block);
  if (in_block == 0) {
    for (size_t line = 0; line < blocks.lines(); ++line) {
      std::copy_n(slot_length.begin() + static_cast<ptrdiff_t>(8 * line), 8,
                  sums[line].length.begin());
    }
  }
  if (blocks.lines() > 0 && in_block < RowBlock::kSpans / 2) {
    sums[slot / 8].length[slot % 8] += span_length;
  }
  slot_length[slot] += span_length;
}

// Lays the sums out anew.
void RowChunk::BuildSums(uint8_t lines) {
  blocks.SetLines(lines);
  slot_length = {};
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    for (uint32_t i = 0; i < blocks[b].count; ++i) AddToSums(b, i);
  }
}

void RowChunk::PushIndex(uint32_t value) {
  if (count == 0) {
    first_index = value;
  } else if (!index.empty()) {
    index.push_back(value);
  } else if (value != first_index + count) {
    index.reserve(kSpans);
    index.resize(count);
    std::iota(index.begin(), index.end(), first_index);
    index.push_back(value);
  }
}

bool RowChunk::Push(const RowSpan& span, bool events) {
  assert(span.slot < kMaxSlots);
  const bool new_block = blocks.empty() || blocks.back().count == RowBlock::kSpans ||
                         blocks.back().OffsetOf(span.start_ns) > kPad;
  if (new_block && blocks.full()) return false;
  RowBlock& block = new_block ? AddBlock(span.start_ns) : blocks.back();
  const auto slot_bit = static_cast<uint16_t>(1U << span.slot);
  block.offset[block.count] = static_cast<uint32_t>(block.OffsetOf(span.start_ns));
  block.before[block.count] = static_cast<uint32_t>(block.length);  // at most the offset
  block.slot[block.count] = span.slot;
  block.length += span.length();
  block.slots |= slot_bit;
  ++block.count;
  slots |= slot_bit;
  if (events) {
    PushIndex(span.index);
    const bool one_slot = std::has_single_bit(slots);
    const uint8_t lines = one_slot ? 0 : (slots >> 8U) != 0 ? 2 : 1;
    if (lines > blocks.lines()) {
      BuildSums(lines);  // moves the blocks
    } else {
      AddToSums(blocks.size() - 1, block.count - 1U);
    }
  }
  length += span.length();
  ++count;
  return true;
}

void RowChunk::ExtendLast(uint64_t by) {
  blocks.back().length += by;
  length += by;
}

RowSpan RowChunk::Unpack(const RowBlock& block, uint32_t i) const {
  const uint64_t start = static_cast<uint64_t>(block.base) + block.offset[i];
  const uint32_t at = block.first + i;
  return {.start_ns = static_cast<int64_t>(start),
          .end_ns = static_cast<int64_t>(start + block.LengthOf(i)),
          .index = index.empty() ? first_index + at : index[at],
          .slot = block.slot[i]};
}

void RowChunk::UnpackInto(std::vector<RowSpan>& out) const {
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    for (uint32_t i = 0; i < blocks[b].count; ++i) out.push_back(Unpack(blocks[b], i));
  }
}

size_t RowChunk::MemoryBytes() const {
  return blocks.MemoryBytes() + index.capacity() * sizeof(uint32_t);
}

}  // namespace nanolane::timeline
