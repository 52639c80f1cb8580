#include "libs/timeline/row_chunk.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <utility>

namespace nanolane::timeline {

namespace {

constexpr uint32_t kPad = std::numeric_limits<uint32_t>::max();

}  // namespace

RowBlock& RowBlocks::Add() {
  if (size_ == capacity_) {
    const uint32_t wider = capacity_ == 0 ? 1 : 2 * capacity_;
    auto blocks = std::make_unique<RowBlock[]>(wider);
    std::copy_n(blocks_.get(), size_, blocks.get());
    blocks_ = std::move(blocks);
    capacity_ = wider;
  }
  return blocks_[size_++];
}

RowBlock& RowChunk::AddBlock(int64_t base) {
  block_base[blocks.size()] = base;
  RowBlock& block = blocks.Add();
  block.base = base;
  block.length_before = length;
  block.first = count;
  block.offset.fill(kPad);
  return block;
}

// Counts a span in, the `in_block`-th of the last block that has sums, or the first of the next.
void RowChunk::AddToSums(uint8_t slot, uint64_t span_length, uint32_t in_block) {
  if (in_block == 0) {
    for (size_t line = 0; line < sum_lines; ++line) {
      SlotLine& sum = sums.emplace_back();
      std::copy_n(slot_length.begin() + static_cast<ptrdiff_t>(8 * line), 8, sum.length.begin());
    }
  }
  if (sum_lines > 0 && in_block < RowBlock::kSpans / 2) {
    sums[sums.size() - sum_lines + slot / 8].length[slot % 8] += span_length;
  }
  slot_length[slot] += span_length;
}

// Lays the sums out anew for the slots that occur.
void RowChunk::BuildSums(uint8_t lines) {
  sum_lines = lines;
  sums.clear();
  slot_length = {};
  for (const RowBlock& block : blocks.All()) {
    for (uint32_t i = 0; i < block.count; ++i) AddToSums(block.slot[i], block.LengthOf(i), i);
  }
}

void RowChunk::PushIndex(uint32_t value) {
  if (count == 0) {
    first_index = value;
  } else if (!index.empty()) {
    index.push_back(value);
  } else if (value != first_index + count) {
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
    if (lines > sum_lines) {
      BuildSums(lines);
    } else {
      AddToSums(span.slot, span.length(), block.count - 1U);
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
  for (const RowBlock& block : blocks.All()) {
    for (uint32_t i = 0; i < block.count; ++i) out.push_back(Unpack(block, i));
  }
}

size_t RowChunk::MemoryBytes() const {
  return blocks.MemoryBytes() + sums.capacity() * sizeof(SlotLine) +
         index.capacity() * sizeof(uint32_t);
}

}  // namespace nanolane::timeline
