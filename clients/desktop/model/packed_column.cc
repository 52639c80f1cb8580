#include "clients/desktop/model/packed_column.h"

#include <algorithm>

namespace nanolane::desktop {

void PackedColumn::PackPage() {
  Page page;
  uint32_t words = 0;
  for (size_t g = 0; g < kGroups; ++g) {
    const auto begin = open_.begin() + static_cast<std::ptrdiff_t>(g * kGroup);
    const auto [least, most] = std::minmax_element(begin, begin + kGroup);
    const uint64_t range = static_cast<uint64_t>(*most) - static_cast<uint64_t>(*least);
    Group& group = page.groups[g];
    group = {
        .least = *least, .first_word = words, .bits = static_cast<uint32_t>(std::bit_width(range))};
    words += group.bits * kGroup / 64;
  }
  page.word_count = words + 1;
  page.words = std::make_unique<uint64_t[]>(page.word_count);
  for (size_t g = 0; g < kGroups; ++g) {
    const Group& group = page.groups[g];
    if (group.bits == 0) continue;
    uint64_t* const out = &page.words[group.first_word];
    for (size_t i = 0; i < kGroup; ++i) {
      const uint64_t value =
          static_cast<uint64_t>(open_[g * kGroup + i]) - static_cast<uint64_t>(group.least);
      const size_t bit = i * group.bits;
      const size_t shift = bit % 64;
      out[bit / 64] |= value << shift;
      if (shift + group.bits > 64) out[bit / 64 + 1] |= value >> (64 - shift);
    }
  }
  pages_.push_back(std::move(page));
  open_.clear();
}

size_t PackedColumn::MemoryBytes() const {
  size_t bytes = pages_.capacity() * sizeof(Page) + open_.capacity() * sizeof(int64_t);
  for (const Page& page : pages_) bytes += page.word_count * sizeof(uint64_t);
  return bytes;
}

}  // namespace nanolane::desktop
