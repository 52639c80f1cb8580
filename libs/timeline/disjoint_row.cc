#include "libs/timeline/disjoint_row.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace nanolane::timeline {

namespace {

bool StartsBefore(int64_t start_ns, const RowSpan& span) { return start_ns < span.start_ns; }

}  // namespace

void DisjointRow::PushBack(const RowSpan& span) {
  last_start_ = span.start_ns;
  last_end_ = span.end_ns;
  ++size_;
  if (EditsLast()) {
    edit_.push_back(span);
    edit_changed_ = true;
    if (edit_.size() >= kMostUnpacked) CloseEdit();
    return;
  }
  const bool events = keep_ == Keep::kSpans;
  if (chunks_.empty() || !chunks_.back().Push(span, events)) {
    stale_from_ = std::min(stale_from_, chunks_.size());
    heads_.push_back(span.start_ns);
    chunks_.emplace_back().Push(span, events);
  }
}

// The chunk into which a span of this start goes; a chunk drawn into the edit counts as the edited.
size_t DisjointRow::ChunkFor(int64_t start_ns) const {
  const auto after = std::upper_bound(heads_.begin(), heads_.end(), start_ns);
  const auto chunk = static_cast<size_t>(std::max<ptrdiff_t>(after - heads_.begin() - 1, 0));
  const bool drawn_in = edit_chunk_ != kNone && chunk > edit_chunk_ && chunk < AfterEdit();
  return drawn_in ? edit_chunk_ : chunk;
}

// Unpacks the chunk into which a span of this start goes.
void DisjointRow::OpenEditFor(int64_t start_ns) {
  if (ChunkFor(start_ns) == edit_chunk_) return;
  CloseEdit();
  edit_chunk_ = ChunkFor(start_ns);  // closing may have split chunks
  edit_.clear();
  chunks_[edit_chunk_].UnpackInto(edit_);
}

std::vector<RowChunk> DisjointRow::PackEdit() const {
  // The last chunk is filled to the brim, because more will follow it; others are split evenly, so
  // that there is room for more late spans.
  const size_t parts = (edit_.size() + RowChunk::kSpans - 1) / RowChunk::kSpans;
  const size_t even = parts == 0 ? 0 : (edit_.size() + parts - 1) / parts;
  const size_t per_part = EditsLast() ? RowChunk::kSpans : even;
  const bool events = keep_ == Keep::kSpans;
  std::vector<RowChunk> packed;
  for (const RowSpan& span : edit_) {
    if (packed.empty() || packed.back().count >= per_part || !packed.back().Push(span, events)) {
      packed.emplace_back().Push(span, events);
    }
  }
  return packed;
}

void DisjointRow::CloseEdit() {
  if (edit_chunk_ == kNone) return;
  if (edit_changed_) {
    std::vector<RowChunk> packed = PackEdit();
    std::vector<int64_t> heads;
    heads.reserve(packed.size());
    for (const RowChunk& chunk : packed) heads.push_back(chunk.block_base.front());
    const auto begin = static_cast<ptrdiff_t>(edit_chunk_);
    const auto end = static_cast<ptrdiff_t>(AfterEdit());
    const auto common = std::min(end - begin, static_cast<ptrdiff_t>(packed.size()));
    std::move(packed.begin(), packed.begin() + common, chunks_.begin() + begin);
    std::copy_n(heads.begin(), common, heads_.begin() + begin);
    chunks_.erase(chunks_.begin() + begin + common, chunks_.begin() + end);
    heads_.erase(heads_.begin() + begin + common, heads_.begin() + end);
    chunks_.insert(chunks_.begin() + begin + common,
                   std::make_move_iterator(packed.begin() + common),
                   std::make_move_iterator(packed.end()));
    heads_.insert(heads_.begin() + begin + common, heads.begin() + common, heads.end());
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
  OpenEditFor(span.start_ns);
  auto at = std::upper_bound(edit_.begin(), edit_.end(), span.start_ns, StartsBefore);
  if (at != edit_.begin() && (at - 1)->end_ns > span.start_ns) {
    if (!span.instant() || (at - 1)->start_ns != span.start_ns) return false;
    --at;  // an instant where a span starts: before it
  } else if (at != edit_.end()) {
    if (at->start_ns < span.end_ns) return false;
  } else if (!EditsLast() && heads_[AfterEdit()] < span.end_ns) {
    return false;
  }
  if (at == edit_.begin()) heads_[edit_chunk_] = span.start_ns;
  edit_.insert(at, span);
  edit_changed_ = true;
  ++size_;
  if (edit_.size() >= kMostUnpacked) CloseEdit();
  return true;
}

void DisjointRow::ExtendLast(int64_t end_ns) {
  const uint64_t by = static_cast<uint64_t>(end_ns) - static_cast<uint64_t>(last_end_);
  last_end_ = end_ns;
  if (EditsLast()) {
    edit_.back().end_ns = end_ns;
    edit_changed_ = true;
  } else {
    chunks_.back().ExtendLast(by);
  }
}

void DisjointRow::Unite(int64_t start_ns, int64_t end_ns) {
  assert(keep_ == Keep::kTimesOnly && start_ns < end_ns);
  if (empty() || start_ns > last_end_) {
    return PushBack({.start_ns = start_ns, .end_ns = end_ns});
  }
  if (start_ns >= last_start_) {
    if (end_ns > last_end_) ExtendLast(end_ns);
    return;
  }
  OpenEditFor(start_ns);
  auto first = static_cast<size_t>(
      std::upper_bound(edit_.begin(), edit_.end(), start_ns, StartsBefore) - edit_.begin());
  if (first > 0 && edit_[first - 1].end_ns >= start_ns) {
    --first;
    start_ns = edit_[first].start_ns;
    if (edit_[first].end_ns >= end_ns) return;
  }
  size_t last = first;  // [first, last) is merged
  do {
    for (; last < edit_.size() && edit_[last].start_ns <= end_ns; ++last) {
      end_ns = std::max(end_ns, edit_[last].end_ns);
    }
  } while (last == edit_.size() && DrawInNext(end_ns));
  const RowSpan merged = {.start_ns = start_ns, .end_ns = end_ns};
  ReplaceInEdit(first, last, {&merged, 1});
}

void DisjointRow::Cut(int64_t start_ns, int64_t end_ns) {
  assert(keep_ == Keep::kTimesOnly && start_ns < end_ns);
  if (empty() || start_ns >= last_end_) return;
  OpenEditFor(start_ns);
  auto first = static_cast<size_t>(
      std::upper_bound(edit_.begin(), edit_.end(), start_ns, StartsBefore) - edit_.begin());
  if (first > 0 && edit_[first - 1].end_ns > start_ns) --first;
  size_t last = first;  // [first, last) is cut
  do {
    while (last < edit_.size() && edit_[last].start_ns < end_ns) ++last;
  } while (last == edit_.size() && DrawInNext(end_ns - 1));
  if (first == last) return;
  std::vector<RowSpan> rest;
  if (edit_[first].start_ns < start_ns) {
    rest.push_back({.start_ns = edit_[first].start_ns, .end_ns = start_ns});
  }
  if (edit_[last - 1].end_ns > end_ns) {
    rest.push_back({.start_ns = end_ns, .end_ns = edit_[last - 1].end_ns});
  }
  ReplaceInEdit(first, last, rest);
}

// Draws the chunk after the edit into it if that chunk starts at or before `time_ns`.
bool DisjointRow::DrawInNext(int64_t time_ns) {
  if (EditsLast() || heads_[AfterEdit()] > time_ns) return false;
  chunks_[AfterEdit()].UnpackInto(edit_);
  ++edit_absorbed_;
  return true;
}

// Puts `by` in the place of [first, last) of the edit.
void DisjointRow::ReplaceInEdit(size_t first, size_t last, std::span<const RowSpan> by) {
  const auto at = edit_.begin() + static_cast<ptrdiff_t>(first);
  edit_.insert(edit_.erase(at, at + static_cast<ptrdiff_t>(last - first)), by.begin(), by.end());
  edit_changed_ = true;
  size_ = size_ + by.size() - (last - first);
  if (!edit_.empty()) heads_[edit_chunk_] = edit_.front().start_ns;
  if (EditsLast()) SetLast();
  if (edit_.empty() || edit_.size() >= kMostUnpacked) CloseEdit();
}

// Finds the last span of the row, which the edit holds unless it is empty.
void DisjointRow::SetLast() {
  RowSpan last;
  if (!edit_.empty()) {
    last = edit_.back();
  } else if (edit_chunk_ > 0) {
    const RowChunk& chunk = chunks_[edit_chunk_ - 1];
    const RowBlock& block = chunk.blocks[chunk.blocks.size() - 1];
    last = chunk.Unpack(block, block.count - 1U);
  }
  last_start_ = last.start_ns;
  last_end_ = last.end_ns;
}

void DisjointRow::RecountFrom(size_t chunk) {
  if (chunk == 0 && !chunks_.empty()) {
    chunks_[0].count_before = 0;
    chunks_[0].length_before = 0;
    chunks_[0].slot_before = {};
  }
  for (size_t i = std::max<size_t>(chunk, 1); i < chunks_.size(); ++i) {
    const RowChunk& before = chunks_[i - 1];
    RowChunk& here = chunks_[i];
    here.count_before = before.count_before + before.count;
    here.length_before = before.length_before + before.length;
    for (size_t slot = 0; slot < kMaxSlots; ++slot) {
      here.slot_before[slot] = before.slot_before[slot] + before.slot_length[slot];
    }
  }
}

void DisjointRow::Commit() {
  CloseEdit();
  if (stale_from_ != kNone) RecountFrom(stale_from_);
  stale_from_ = kNone;
}

size_t DisjointRow::MemoryBytes() const {
  size_t bytes = chunks_.capacity() * sizeof(RowChunk) + heads_.capacity() * sizeof(int64_t) +
                 edit_.capacity() * sizeof(RowSpan);
  for (const RowChunk& chunk : chunks_) bytes += chunk.MemoryBytes();
  return bytes;
}

}  // namespace nanolane::timeline
