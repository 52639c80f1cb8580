// A growing column of integers in as many bits as they need, any of which is read in O(1).
//
// Values are packed in groups of 256, each in a frame of reference: the least of the group, and the
// differences to it, all as wide as the widest. Groups are packed 16 at a time, into memory of
// exactly their size; what has come since lies open. Thread-compatible.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace nanolane::desktop {

class PackedColumn {
 public:
  static constexpr size_t kGroup = 256;
  static constexpr size_t kGroups = 16;
  static constexpr size_t kPage = kGroup * kGroups;  // values

  void Append(int64_t value) {
    if (open_.capacity() == 0) open_.reserve(kFirstOpen);
    open_.push_back(value);
    if (open_.size() == kPage) PackPage();
  }

  size_t size() const { return pages_.size() * kPage + open_.size(); }

  int64_t operator[](size_t i) const {
    const size_t page = i / kPage;
    if (page == pages_.size()) return open_[i % kPage];
    const Page& packed = pages_[page];
    const Group& group = packed.groups[i % kPage / kGroup];
    const size_t bit = i % kGroup * group.bits;
    return static_cast<int64_t>(static_cast<uint64_t>(group.least) +
                                BitsAt(&packed.words[group.first_word], bit, group.bits));
  }

  // Heap bytes held.
  size_t MemoryBytes() const;

 private:
  static constexpr size_t kFirstOpen = 16;

  struct Group {
    int64_t least = 0;
    uint32_t first_word = 0;
    uint32_t bits = 0;  // 0 … 64
  };
  struct Page {
    std::array<Group, kGroups> groups;
    std::unique_ptr<uint64_t[]> words;  // and one more, so that two can always be read
    uint32_t word_count = 0;
  };

  static uint64_t BitsAt(const uint64_t* words, size_t bit, uint32_t bits) {
    if (bits == 0) return 0;
    const size_t word = bit / 64;
    const size_t shift = bit % 64;
    uint64_t value = words[word] >> shift;
    if (shift != 0) value |= words[word + 1] << (64 - shift);
    return bits == 64 ? value : value & ((uint64_t{1} << bits) - 1);
  }

  void PackPage();

  std::vector<Page> pages_;
  std::vector<int64_t> open_;
};

}  // namespace nanolane::desktop
