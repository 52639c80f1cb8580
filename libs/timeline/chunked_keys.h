// A sorted sequence in chunks of bounded size, so that an insertion anywhere moves at most one
// chunk. The users keep what they want in a chunk beside its keys, and their own sums over chunks.
//
// Chunk needs: std::vector<int64_t> key; uint64_t count_before; Chunk SplitOff(size_t at), which
// moves what lies from `at` on into a new chunk. Thread-compatible.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "libs/timeline/gallop.h"

namespace nanolane::timeline {

template <typename Chunk>
class ChunkedKeys {
 public:
  static constexpr size_t kChunkKeys = 512;
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  struct Place {
    size_t chunk = 0;
    size_t in_chunk = 0;
  };

  bool empty() const { return chunks_.empty(); }
  size_t size() const { return chunks_.size(); }  // chunks
  Chunk& operator[](size_t i) { return chunks_[i]; }
  const Chunk& operator[](size_t i) const { return chunks_[i]; }

  // Inserts a key after all keys that are not higher. The caller inserts what belongs to it at the
  // returned place.
  Place Insert(int64_t key) {
    if (chunks_.empty()) {
      chunks_.emplace_back();
      heads_.push_back(key);
    }
    size_t chunk = ChunkFor(key);
    if (chunks_[chunk].key.size() == kChunkKeys) {
      Split(chunk);
      chunk = ChunkFor(key);
    }
    std::vector<int64_t>& keys = chunks_[chunk].key;
    const auto at = std::upper_bound(keys.begin(), keys.end(), key);
    const Place place = {chunk, static_cast<size_t>(at - keys.begin())};
    keys.insert(at, key);
    heads_[chunk] = keys.front();
    stale_from_ = std::min(stale_from_, chunk);
    return place;
  }

  // The first chunk since the last call that is changed or behind a changed one; kNone if none is.
  // count_before of the chunks is up to date then.
  size_t TakeStale() {
    for (size_t i = std::max<size_t>(stale_from_, 1); i < chunks_.size(); ++i) {
      chunks_[i].count_before = chunks_[i - 1].count_before + chunks_[i - 1].key.size();
    }
    return std::exchange(stale_from_, kNone);
  }

  // The place of the first key that is not lower than `key`, at the end of a chunk rather than at
  // the start of the next; `from` is an earlier such place.
  Place Find(int64_t key, Place from = {}) const {
    assert(!chunks_.empty());
    const size_t chunk = GallopToLastBelow(heads_, from.chunk, key);
    const size_t start = chunk == from.chunk ? from.in_chunk : 0;
    return {chunk, GallopToFirstNotBelow(chunks_[chunk].key, start, key)};
  }

  uint64_t RankOf(const Place& place) const {
    return chunks_[place.chunk].count_before + place.in_chunk;
  }

  // Of a rank that exists.
  Place PlaceOf(uint64_t rank) const {
    const auto after =
        std::upper_bound(chunks_.begin(), chunks_.end(), rank,
                         [](uint64_t r, const Chunk& chunk) { return r < chunk.count_before; });
    return {static_cast<size_t>(after - chunks_.begin()) - 1,
            static_cast<size_t>(rank - (after - 1)->count_before)};
  }

  // Without what the chunks themselves hold.
  size_t MemoryBytes() const {
    return chunks_.capacity() * sizeof(Chunk) + heads_.capacity() * sizeof(int64_t);
  }

 private:
  // The last chunk that starts at or before `key`, or the first one.
  size_t ChunkFor(int64_t key) const {
    const auto after = std::upper_bound(heads_.begin(), heads_.end(), key);
    return static_cast<size_t>(std::max<ptrdiff_t>(after - heads_.begin() - 1, 0));
  }

  void Split(size_t chunk) {
    // At the end of the list the chunk stays full, but for one key with which the next one starts.
    const size_t at = chunk + 1 == chunks_.size() ? kChunkKeys - 1 : kChunkKeys / 2;
    Chunk right = chunks_[chunk].SplitOff(at);
    heads_.insert(heads_.begin() + static_cast<ptrdiff_t>(chunk) + 1, right.key.front());
    chunks_.insert(chunks_.begin() + static_cast<ptrdiff_t>(chunk) + 1, std::move(right));
    stale_from_ = std::min(stale_from_, chunk);
  }

  std::vector<Chunk> chunks_;
  std::vector<int64_t> heads_;  // first key of each chunk
  size_t stale_from_ = kNone;
};

// For SplitOff() and its counterpart.
template <typename T>
std::vector<T> TakeTail(std::vector<T>& values, size_t at) {
  std::vector<T> tail(values.begin() + static_cast<ptrdiff_t>(at), values.end());
  values.resize(at);
  return tail;
}

template <typename T>
void InsertAt(std::vector<T>& values, size_t at, T value) {
  values.insert(values.begin() + static_cast<ptrdiff_t>(at), value);
}

}  // namespace nanolane::timeline
