#include "libs/timeline/memory_index.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "libs/trace/model.h"

namespace nanolane::timeline {

namespace {

constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();

}  // namespace

void MemoryIndex::Extremes::Include(int64_t level) {
  lowest = std::min(lowest, level);
  highest = std::max(highest, level);
}

void MemoryIndex::Extremes::Include(const Extremes& other) {
  lowest = std::min(lowest, other.lowest);
  highest = std::max(highest, other.highest);
}

MemoryIndex::Chunk MemoryIndex::Chunk::SplitOff(size_t at) {
  Chunk tail;
  tail.key = TakeTail(key, at);
  tail.level = TakeTail(level, at);
  stale = true;
  return tail;
}

void MemoryIndex::Chunk::Summarize() {
  stale = false;
  all = {level.front(), level.front()};
  blocks.clear();
  for (size_t i = 0; i < level.size(); ++i) {
    if (i % kBlockPoints == 0) blocks.push_back({level[i], level[i]});
    blocks.back().Include(level[i]);
  }
  for (const Extremes& block : blocks) all.Include(block);
}

void MemoryIndex::Append(std::span<const int64_t> time_ns, std::span<const int64_t> level) {
  assert(time_ns.size() == level.size());
  for (size_t i = 0; i < time_ns.size(); ++i) {
    if (level[i] == trace::kNoLevel) continue;
    const Place place = chunks_.Insert(time_ns[i]);
    InsertAt(chunks_[place.chunk].level, place.in_chunk, level[i]);
    chunks_[place.chunk].stale = true;
    ++size_;
  }
  for (size_t i = chunks_.TakeStale(); i < chunks_.size(); ++i) {
    if (chunks_[i].stale) chunks_[i].Summarize();
  }
}

int64_t MemoryIndex::first_ns() const { return size_ == 0 ? 0 : chunks_[0].key.front(); }
int64_t MemoryIndex::last_ns() const {
  return size_ == 0 ? 0 : chunks_[chunks_.size() - 1].key.back();
}

std::optional<int64_t> MemoryIndex::lowest() const {
  std::optional<int64_t> lowest = level_before_;
  for (size_t i = 0; i < chunks_.size(); ++i) {
    lowest = std::min(lowest.value_or(chunks_[i].all.lowest), chunks_[i].all.lowest);
  }
  return lowest;
}

std::optional<int64_t> MemoryIndex::highest() const {
  std::optional<int64_t> highest = level_before_;
  for (size_t i = 0; i < chunks_.size(); ++i) {
    highest = std::max(highest.value_or(chunks_[i].all.highest), chunks_[i].all.highest);
  }
  return highest;
}

// The level of the last point before a place.
std::optional<int64_t> MemoryIndex::LevelBefore(const Place& place) const {
  if (place.in_chunk > 0) return chunks_[place.chunk].level[place.in_chunk - 1];
  if (place.chunk > 0) return chunks_[place.chunk - 1].level.back();
  return level_before_;
}

std::optional<int64_t> MemoryIndex::LevelAt(int64_t time_ns) const {
  if (size_ == 0) return level_before_;
  if (time_ns == kLatest) return chunks_[chunks_.size() - 1].level.back();
  return LevelBefore(chunks_.Find(time_ns + 1));
}

// The extremes of the chunk's points [from, to), by whole blocks where it can.
void MemoryIndex::Include(const Chunk& chunk, size_t from, size_t to, Extremes& extremes) {
  if (from == 0 && to == chunk.level.size()) return extremes.Include(chunk.all);
  while (from < to) {
    const size_t block = from / kBlockPoints;
    if (from % kBlockPoints == 0 && from + kBlockPoints <= to) {
      extremes.Include(chunk.blocks[block]);
      from += kBlockPoints;
    } else {
      extremes.Include(chunk.level[from++]);
    }
  }
}

LevelColumn MemoryIndex::ColumnBetween(int64_t left_ns, const Place& from, const Place& to) const {
  LevelColumn column;
  const std::optional<int64_t> before = LevelBefore(from);
  const uint64_t changes = chunks_.RankOf(to) - chunks_.RankOf(from);
  column.changes =
      static_cast<uint32_t>(std::min<uint64_t>(changes, std::numeric_limits<uint32_t>::max()));
  column.known = before.has_value() || changes > 0;
  if (!column.known) return column;
  column.last = *LevelBefore(to);
  Extremes extremes = {column.last, column.last};
  if (changes > 0) {
    // A place at the end of a chunk is that of the next chunk's first point.
    const bool at_end = from.in_chunk == chunks_[from.chunk].key.size();
    const Place first = at_end ? Place{from.chunk + 1, 0} : from;
    const bool point_at_edge = chunks_[first.chunk].key[first.in_chunk] == left_ns;
    if (before && !point_at_edge) extremes.Include(*before);
    for (size_t c = first.chunk; c <= to.chunk; ++c) {
      const Chunk& chunk = chunks_[c];
      Include(chunk, c == first.chunk ? first.in_chunk : 0,
              c == to.chunk ? to.in_chunk : chunk.key.size(), extremes);
    }
  }
  column.lowest = extremes.lowest;
  column.highest = extremes.highest;
  return column;
}

// Columns of 1 ns or more.
void MemoryIndex::FillColumns(const Window& window, std::span<LevelColumn> out) const {
  EdgeWalker edges(window, static_cast<uint32_t>(out.size()));
  int64_t left_ns = edges.Next();
  Place left = chunks_.Find(left_ns);
  for (LevelColumn& column : out) {
    const int64_t right_ns = edges.Next();
    const Place right = chunks_.Find(right_ns, left);
    column = ColumnBetween(left_ns, left, right);
    left = right;
    left_ns = right_ns;
  }
}

void MemoryIndex::Columns(const Window& window, std::span<LevelColumn> out) const {
  std::fill(out.begin(), out.end(), LevelColumn());
  if (window.end_ns <= window.start_ns || out.empty()) return;
  if (size_ == 0) {
    if (!level_before_) return;
    std::fill(out.begin(), out.end(),
              LevelColumn{.known = true,
                          .lowest = *level_before_,
                          .highest = *level_before_,
                          .last = *level_before_});
    return;
  }
  const uint64_t span =
      static_cast<uint64_t>(window.end_ns) - static_cast<uint64_t>(window.start_ns);
  const auto width = static_cast<uint32_t>(out.size());
  if (span >= width) return FillColumns(window, out);
  // Below 1 ns per column: as LaneIndex::Columns().
  FillColumns(window, out.first(static_cast<size_t>(span)));
  for (uint32_t i = width; i-- > 0;) {
    const auto number = static_cast<uint32_t>(span * i / width);
    const bool first = i == 0 || span * (i - 1) / width != number;
    out[i] = out[number];
    if (!first) out[i].changes = 0;
  }
}

size_t MemoryIndex::MemoryBytes() const {
  size_t bytes = chunks_.MemoryBytes();
  for (size_t i = 0; i < chunks_.size(); ++i) {
    const Chunk& chunk = chunks_[i];
    bytes += (chunk.key.capacity() + chunk.level.capacity()) * sizeof(int64_t) +
             chunk.blocks.capacity() * sizeof(Extremes);
  }
  return bytes;
}

}  // namespace nanolane::timeline
