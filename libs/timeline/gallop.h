// Searches in sorted arrays for a caller that asks for ascending values: cheap when the answer lies
// near the last one, branchless in small arrays.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nanolane::timeline {

// Number of elements of `sorted` below `value`, given that those before `from` are. O(log
// distance).
inline size_t GallopToFirstNotBelow(std::span<const int64_t> sorted, size_t from, int64_t value) {
  size_t step = 1;
  size_t high = from;
  while (high < sorted.size() && sorted[high] < value) {
    from = high + 1;
    high += step;
    step *= 2;
  }
  const auto begin = sorted.begin();
  const auto end = begin + static_cast<ptrdiff_t>(std::min(high, sorted.size()));
  return static_cast<size_t>(std::lower_bound(begin + static_cast<ptrdiff_t>(from), end, value) -
                             begin);
}

// Index of the last element below `value`, or 0 if none is; `from` is an earlier such index.
inline size_t GallopToLastBelow(std::span<const int64_t> sorted, size_t from, int64_t value) {
  return GallopToFirstNotBelow(sorted, from + 1, value) - 1;
}

// As above, by halving; Size is a power of two.
template <size_t Size>
inline uint32_t LastBelow(const std::array<int64_t, Size>& sorted, int64_t value) {
  static_assert((Size & (Size - 1)) == 0);
  size_t at = 0;
  for (size_t step = Size / 2; step > 0; step /= 2) {
    at += sorted[at + step] < value ? step : 0;
  }
  return static_cast<uint32_t>(at);
}

// Number of elements below `value`. Compares with each, which vectorizes.
template <size_t Size>
inline uint32_t CountBelow(const std::array<uint32_t, Size>& sorted, uint32_t value) {
  uint32_t count = 0;
  for (size_t i = 0; i < Size; ++i) count += sorted[i] < value ? 1U : 0U;
  return count;
}

}  // namespace nanolane::timeline
