// Reading memory that somebody else may be writing: in words, each of them exactly once, so that
// what was checked is what is used, whatever the compiler does.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nanolane::collector {

// `from` is aligned to the word.
template <typename Word>
Word LoadWord(const std::byte* from) {
  // atomic_ref wants a mutable object; nothing is written.
  Word& word = *reinterpret_cast<Word*>(const_cast<std::byte*>(from));
  return std::atomic_ref<Word>(word).load(std::memory_order_relaxed);
}

// Copies `bytes`, a multiple of 8, from `from`, which is aligned to 8.
inline void CopyWords(const std::byte* from, size_t bytes, uint64_t* to) {
  for (size_t i = 0; i < bytes / sizeof(uint64_t); ++i) {
    to[i] = LoadWord<uint64_t>(from + i * sizeof(uint64_t));
  }
}

}  // namespace nanolane::collector
