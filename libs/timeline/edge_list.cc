#include "libs/timeline/edge_list.h"

#include <algorithm>
#include <cassert>

#include "libs/timeline/gallop.h"

namespace nanolane::timeline {

namespace {

template <typename T>
void MoveTail(std::vector<T>& from, std::vector<T>& to, size_t at) {
  to.assign(from.begin() + static_cast<ptrdiff_t>(at), from.end());
  from.resize(at);
}

template <typename T>
void InsertAt(std::vector<T>& values, size_t at, T value) {
  values.insert(values.begin() + static_cast<ptrdiff_t>(at), value);
}

}  // namespace

// The last chunk that starts at or before `key`, or the first one.
size_t EdgeList::ChunkFor(int64_t key) const {
  const auto after = std::upper_bound(heads_.begin(), heads_.end(), key);
  return static_cast<size_t>(std::max<ptrdiff_t>(after - heads_.begin() - 1, 0));
}

void EdgeList::Split(size_t chunk) {
  // At the end of the list the chunk stays full and the next one starts empty, but for one edge.
  const bool last = chunk + 1 == chunks_.size();
  const size_t at = last ? kChunkEdges - 1 : kChunkEdges / 2;
  chunks_.insert(chunks_.begin() + static_cast<ptrdiff_t>(chunk) + 1, Chunk());
  Chunk& left = chunks_[chunk];
  Chunk& right = chunks_[chunk + 1];
  MoveTail(left.key, right.key, at);
  MoveTail(left.other, right.other, at);
  MoveTail(left.index, right.index, at);
  MoveTail(left.slot, right.slot, at);
  left.stale = true;
  stale_from_ = std::min(stale_from_, chunk);
  InsertAt(heads_, chunk + 1, right.key.front());
}

void EdgeList::Insert(const Edge& edge) {
  if (chunks_.empty()) {
    chunks_.emplace_back();
    heads_.push_back(edge.key_ns);
  }
  size_t at_chunk = ChunkFor(edge.key_ns);
  if (chunks_[at_chunk].key.size() == kChunkEdges) {
    Split(at_chunk);
    at_chunk = ChunkFor(edge.key_ns);
  }
  Chunk& chunk = chunks_[at_chunk];
  const auto at = static_cast<size_t>(
      std::upper_bound(chunk.key.begin(), chunk.key.end(), edge.key_ns) - chunk.key.begin());
  InsertAt(chunk.key, at, edge.key_ns);
  InsertAt(chunk.other, at, edge.other_ns);
  InsertAt(chunk.index, at, edge.index);
  InsertAt(chunk.slot, at, edge.slot);
  chunk.stale = true;
  heads_[at_chunk] = chunk.key.front();
  stale_from_ = std::min(stale_from_, at_chunk);
  ++size_;
}

void EdgeList::AddTo(SlotSum& sum, int64_t key) {
  sum.key_sum += key;
  ++sum.count;
}

void EdgeList::Summarize(Chunk& chunk) const {
  const size_t blocks = (chunk.key.size() + kBlockEdges - 1) / kBlockEdges;
  chunk.latest_other.assign(blocks, std::numeric_limits<int64_t>::min());
  for (size_t i = 0; i < chunk.key.size(); ++i) {
    int64_t& latest = chunk.latest_other[i / kBlockEdges];
    latest = std::max(latest, chunk.other[i]);
  }
  chunk.latest = *std::max_element(chunk.latest_other.begin(), chunk.latest_other.end());
  chunk.stale = false;
  if (slot_count_ <= 1) return;
  chunk.sums.assign((blocks + 1) * slot_count_, SlotSum());
  for (size_t i = 0; i < chunk.key.size(); ++i) {
    const size_t row = i / kBlockEdges + 1;
    if (i % kBlockEdges == 0) {
      std::copy_n(chunk.sums.begin() + static_cast<ptrdiff_t>((row - 1) * slot_count_), slot_count_,
                  chunk.sums.begin() + static_cast<ptrdiff_t>(row * slot_count_));
    }
    AddTo(chunk.sums[row * slot_count_ + chunk.slot[i]], chunk.key[i]);
  }
}

void EdgeList::Commit(size_t slot_count) {
  const bool more_slots = slot_count > std::max<size_t>(slot_count_, 1);
  slot_count_ = std::max(slot_count_, slot_count);
  if (more_slots) stale_from_ = 0;
  for (size_t i = stale_from_; i < chunks_.size(); ++i) {
    Chunk& here = chunks_[i];
    if (here.stale || more_slots) Summarize(here);
    if (i == 0) continue;
    const Chunk& before = chunks_[i - 1];
    here.count_before = before.count_before + before.key.size();
    here.before = before.before;
    if (slot_count_ <= 1) continue;
    const size_t last_row = before.sums.size() - slot_count_;
    for (size_t slot = 0; slot < slot_count_; ++slot) {
      here.before[slot].key_sum += before.sums[last_row + slot].key_sum;
      here.before[slot].count += before.sums[last_row + slot].count;
    }
  }
  stale_from_ = kNone;
}

Edge EdgeList::At(uint64_t rank) const {
  assert(rank < size_);
  const auto after =
      std::upper_bound(chunks_.begin(), chunks_.end(), rank,
                       [](uint64_t r, const Chunk& chunk) { return r < chunk.count_before; });
  const Chunk& chunk = *(after - 1);
  const auto at = static_cast<size_t>(rank - chunk.count_before);
  return {.key_ns = chunk.key[at],
          .other_ns = chunk.other[at],
          .index = chunk.index[at],
          .slot = chunk.slot[at]};
}

uint64_t EdgeList::RankOf(int64_t key) const { return Cursor(*this).Seek(key); }

uint64_t EdgeList::RankAfter(int64_t key) const {
  return key == std::numeric_limits<int64_t>::max() ? size_ : RankOf(key + 1);
}

uint64_t EdgeList::LastRunning(uint64_t end, int64_t time_ns) const {
  for (size_t c = chunks_.size(); c-- > 0;) {
    const Chunk& chunk = chunks_[c];
    if (chunk.count_before >= end || chunk.latest <= time_ns) continue;
    size_t i = std::min<size_t>(chunk.key.size(), static_cast<size_t>(end - chunk.count_before));
    while (i > 0) {
      const size_t block = (i - 1) / kBlockEdges;
      if (chunk.latest_other[block] <= time_ns) {
        i = block * kBlockEdges;
        continue;
      }
      --i;
      if (chunk.other[i] > time_ns) return chunk.count_before + i;
    }
  }
  return end;
}

uint64_t EdgeList::Cursor::Seek(int64_t time_ns) {
  if (list_->chunks_.empty()) return 0;
  const size_t chunk = GallopToLastBelow(list_->heads_, chunk_, time_ns);
  if (chunk != chunk_) in_chunk_ = 0;
  chunk_ = chunk;
  in_chunk_ = GallopToFirstNotBelow(list_->chunks_[chunk_].key, in_chunk_, time_ns);
  return list_->chunks_[chunk_].count_before + in_chunk_;
}

void EdgeList::Cursor::AddLengths(int64_t time_ns, int sign, WideSlotLengths& lengths) const {
  if (list_->chunks_.empty()) return;
  assert(list_->slot_count_ > 1);
  const Chunk& chunk = list_->chunks_[chunk_];
  const size_t slots = list_->slot_count_;
  const size_t block = in_chunk_ / kBlockEdges;
  const SlotSum* sums = &chunk.sums[block * slots];
  for (size_t slot = 0; slot < slots; ++slot) {
    const SlotSum& before = chunk.before[slot];
    const auto count = static_cast<Wide>(before.count + sums[slot].count);
    lengths[slot] += sign * (count * time_ns - before.key_sum - sums[slot].key_sum);
  }
  for (size_t i = block * kBlockEdges; i < in_chunk_; ++i) {
    lengths[chunk.slot[i]] += sign * (Wide{time_ns} - chunk.key[i]);
  }
}

size_t EdgeList::MemoryBytes() const {
  size_t bytes = chunks_.capacity() * sizeof(Chunk) + heads_.capacity() * sizeof(int64_t);
  for (const Chunk& chunk : chunks_) {
    bytes += (chunk.key.capacity() + chunk.other.capacity() + chunk.latest_other.capacity()) *
                 sizeof(int64_t) +
             chunk.index.capacity() * sizeof(uint32_t) + chunk.slot.capacity() +
             chunk.sums.capacity() * sizeof(SlotSum);
  }
  return bytes;
}

}  // namespace nanolane::timeline
