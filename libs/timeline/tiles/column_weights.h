// Sums by (column, label), sparse: appended in any order, and put together when there are twice as
// many as after the last time, so that memory is in proportion to the distinct ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nanolane::timeline {

class ColumnWeights {
 public:
  struct Entry {
    uint32_t column;
    uint32_t label;
    uint64_t weight;
  };

  // kLengths: weights may be 0 (the label is there all the same), and a sum that passes 64 bits
  // stays in several entries. kChanges: sums wrap modulo 2^64, and those of 0 are left out.
  enum class Of { kLengths, kChanges };
  explicit ColumnWeights(Of of) : of_(of) {}

  void Clear() {
    entries_.clear();
    limit_ = kFewEntries;
  }

  void Add(uint32_t column, uint32_t label, uint64_t weight) {
    if (entries_.size() >= limit_) Compact();
    entries_.push_back({column, label, weight});
  }

  // By column; entries of one column and label may be several.
  const std::vector<Entry>& Sorted() {
    const auto by_column = [](const Entry& a, const Entry& b) { return a.column < b.column; };
    if (!std::is_sorted(entries_.begin(), entries_.end(), by_column)) {
      std::stable_sort(entries_.begin(), entries_.end(), by_column);
    }
    return entries_;
  }

 private:
  static constexpr size_t kFewEntries = size_t{1} << 20U;

  void Compact() {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.column != b.column ? a.column < b.column : a.label < b.label;
    });
    size_t kept = 0;
    for (const Entry& entry : entries_) {
      if (kept > 0) {
        Entry& last = entries_[kept - 1];
        uint64_t sum = 0;
        const bool overflow = __builtin_add_overflow(last.weight, entry.weight, &sum);
        if (last.column == entry.column && last.label == entry.label &&
            (!overflow || of_ == Of::kChanges)) {
          last.weight = sum;
          if (sum == 0 && of_ == Of::kChanges) --kept;
          continue;
        }
      }
      entries_[kept++] = entry;
    }
    entries_.resize(kept);
    limit_ = std::max(kFewEntries, kept * 2);
  }

  Of of_;
  std::vector<Entry> entries_;
  size_t limit_ = kFewEntries;
};

}  // namespace nanolane::timeline
