#include "libs/timeline/edge_list.h"

#include <algorithm>
#include <cassert>

namespace nanolane::timeline {

EdgeList::Chunk EdgeList::Chunk::SplitOff(size_t at) {
  Chunk tail;
  tail.key = TakeTail(key, at);
  tail.other = TakeTail(other, at);
  tail.index = TakeTail(index, at);
  tail.slot = TakeTail(slot, at);
  stale = true;
  return tail;
}

void EdgeList::Insert(const Edge& edge) {
  const auto place = chunks_.Insert(edge.key_ns);
  Chunk& chunk = chunks_[place.chunk];
  InsertAt(chunk.other, place.in_chunk, edge.other_ns);
  InsertAt(chunk.index, place.in_chunk, edge.index);
  InsertAt(chunk.slot, place.in_chunk, edge.slot);
  chunk.stale = true;
  ++size_;
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
    SlotSum* row = &chunk.sums[(i / kBlockEdges + 1) * slot_count_];
    if (i % kBlockEdges == 0) std::copy_n(row - slot_count_, slot_count_, row);
    row[chunk.slot[i]].key_sum += chunk.key[i];
    ++row[chunk.slot[i]].count;
  }
}

void EdgeList::Commit(size_t slot_count) {
  const bool more_slots = slot_count > std::max<size_t>(slot_count_, 1);
  slot_count_ = std::max(slot_count_, slot_count);
  const size_t stale_from = chunks_.TakeStale();
  for (size_t i = more_slots ? 0 : stale_from; i < chunks_.size(); ++i) {
    Chunk& here = chunks_[i];
    if (here.stale || more_slots) Summarize(here);
    if (slot_count_ <= 1) continue;
    here.before.assign(slot_count_, SlotSum());
    if (i == 0) continue;
    const Chunk& earlier = chunks_[i - 1];
    const SlotSum* whole_chunk = &earlier.sums[earlier.sums.size() - slot_count_];
    for (size_t slot = 0; slot < slot_count_; ++slot) {
      here.before[slot].key_sum = earlier.before[slot].key_sum + whole_chunk[slot].key_sum;
      here.before[slot].count = earlier.before[slot].count + whole_chunk[slot].count;
    }
  }
}

Edge EdgeList::At(uint64_t rank) const {
  assert(rank < size_);
  const auto place = chunks_.PlaceOf(rank);
  const Chunk& chunk = chunks_[place.chunk];
  return {.key_ns = chunk.key[place.in_chunk],
          .other_ns = chunk.other[place.in_chunk],
          .index = chunk.index[place.in_chunk],
          .slot = chunk.slot[place.in_chunk]};
}

uint64_t EdgeList::RankOf(int64_t key) const {
  return empty() ? 0 : chunks_.RankOf(chunks_.Find(key));
}

uint64_t EdgeList::RankAfter(int64_t key) const {
  return key == std::numeric_limits<int64_t>::max() ? size_ : RankOf(key + 1);
}

uint64_t EdgeList::LastRunning(uint64_t end, int64_t time_ns) const {
  if (end == 0) return end;
  for (size_t c = chunks_.PlaceOf(end - 1).chunk + 1; c-- > 0;) {
    const Chunk& chunk = chunks_[c];
    if (chunk.latest <= time_ns) continue;
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
  if (list_->empty()) return 0;
  place_ = list_->chunks_.Find(time_ns, place_);
  return list_->chunks_.RankOf(place_);
}

void EdgeList::Cursor::AddLengths(int64_t time_ns, int sign, WideSlotLengths& lengths) const {
  if (list_->empty()) return;
  const size_t slots = list_->slot_count_;
  assert(slots > 1);
  const Chunk& chunk = list_->chunks_[place_.chunk];
  const size_t block = place_.in_chunk / kBlockEdges;
  const SlotSum* sums = &chunk.sums[block * slots];
  for (size_t slot = 0; slot < slots; ++slot) {
    const SlotSum& before = chunk.before[slot];
    const Wide count = Wide{before.count} + sums[slot].count;
    lengths[slot] += sign * (count * time_ns - before.key_sum - sums[slot].key_sum);
  }
  for (size_t i = block * kBlockEdges; i < place_.in_chunk; ++i) {
    lengths[chunk.slot[i]] += sign * (Wide{time_ns} - chunk.key[i]);
  }
}

size_t EdgeList::MemoryBytes() const {
  size_t bytes = chunks_.MemoryBytes();
  for (size_t i = 0; i < chunks_.size(); ++i) {
    const Chunk& chunk = chunks_[i];
    bytes += (chunk.key.capacity() + chunk.other.capacity() + chunk.latest_other.capacity()) *
                 sizeof(int64_t) +
             chunk.index.capacity() * sizeof(uint32_t) + chunk.slot.capacity() +
             (chunk.sums.capacity() + chunk.before.capacity()) * sizeof(SlotSum);
  }
  return bytes;
}

}  // namespace nanolane::timeline
