#include "libs/timeline/density.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "libs/timeline/columns.h"

namespace nanolane::timeline {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<uint64_t>::max() : sum;
}

int64_t EndOf(int64_t start_ns, int64_t duration_ns) {
  if (duration_ns <= 0) return start_ns;
  int64_t end = 0;
  return __builtin_add_overflow(start_ns, duration_ns, &end) ? kMax : end;
}

// Bins that [start, end] reaches into, an end on a bin's edge being of the bin before it.
uint64_t BinsTouched(int64_t start_ns, int64_t end_ns, int level) {
  const int64_t last = end_ns > start_ns ? end_ns - 1 : start_ns;
  return static_cast<uint64_t>((last >> level) - (start_ns >> level)) + 1;
}

int64_t RowOfBin(int64_t index) { return index >> 6; }
static_assert(DensityPyramid::kRowBins == 1 << 6);

}  // namespace

void DensityBin::Add(const DensityBin& other) {
  for (size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].events += other.kinds[i].events;
    kinds[i].busy_ns = SaturatingAdd(kinds[i].busy_ns, other.kinds[i].busy_ns);
  }
  losses += other.losses;
}

bool DensityBin::operator==(const DensityBin& other) const {
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].events != other.kinds[i].events || kinds[i].busy_ns != other.kinds[i].busy_ns) {
      return false;
    }
  }
  return losses == other.losses;
}

void AddCoarser(const DensityBins& bins, int level, int to_level, DensityBins& to) {
  for (const auto& [index, bin] : bins) to[index >> (to_level - level)].Add(bin);
}

DensityPyramid::DensityPyramid() {
  for (int i = 0; i < kLevels; ++i) {
    levels_[static_cast<size_t>(i)].level = kFinestLevel + i * kLevelStep;
  }
}

DensityBin& DensityPyramid::Touch(Level& level, int64_t index) {
  Last& last = last_[static_cast<size_t>(&level - levels_.data())];
  if (last.bin == nullptr || last.index != index) {
    last = {index, &level.bins[index]};
    changed_.insert({level.level, RowOfBin(index)});
  }
  return *last.bin;
}

void DensityPyramid::AddSpan(Level& to, int64_t start_ns, int64_t end_ns, trace::EventKind kind) {
  const auto k = static_cast<size_t>(kind);
  const int64_t first = start_ns >> to.level;
  ++Touch(to, first).kinds[k].events;
  if (end_ns <= start_ns) return;
  const int64_t last = (end_ns - 1) >> to.level;
  for (int64_t index = first; index <= last; ++index) {
    const Wide bin_start = static_cast<Wide>(index) << to.level;
    const Wide bin_end = static_cast<Wide>(index + 1) << to.level;
    const Wide part = std::min<Wide>(end_ns, bin_end) - std::max<Wide>(start_ns, bin_start);
    uint64_t& busy = Touch(to, index).kinds[k].busy_ns;
    busy = SaturatingAdd(busy, static_cast<uint64_t>(part));
  }
}

void DensityPyramid::Add(std::span<const int64_t> start_ns, std::span<const int64_t> duration_ns,
                         std::span<const trace::EventKind> kind) {
  for (size_t i = 0; i < start_ns.size(); ++i) {
    const int64_t end_ns = EndOf(start_ns[i], duration_ns[i]);
    CoarsenFor(start_ns[i], end_ns);
    for (Level& level : levels_) AddSpan(level, start_ns[i], end_ns, kind[i]);
  }
}

void DensityPyramid::AddLosses(int64_t time_ns, uint64_t count) {
  CoarsenFor(time_ns, time_ns);
  for (Level& level : levels_) Touch(level, time_ns >> level.level).losses += count;
}

// Makes room for what [start, end] touches: a span may reach into more bins than there can be.
void DensityPyramid::CoarsenFor(int64_t start_ns, int64_t end_ns) {
  while (levels_.front().bins.size() + BinsTouched(start_ns, end_ns, finest_level()) > kMostBins) {
    // A span within the last bin takes no room; most do.
    if (last_.front().bin != nullptr && last_.front().index == start_ns >> finest_level() &&
        BinsTouched(start_ns, end_ns, finest_level()) == 1) {
      return;
    }
    if (levels_.back().level >= kCoarsestLevel) return;
    Coarsen();
  }
}

void DensityPyramid::Coarsen() {
  for (Level& level : levels_) {
    for (const auto& [index, bin] : level.bins) changed_.insert({level.level, RowOfBin(index)});
    DensityBins coarser;
    AddCoarser(level.bins, level.level, level.level + 1, coarser);
    level.bins = std::move(coarser);
    ++level.level;
    for (const auto& [index, bin] : level.bins) changed_.insert({level.level, RowOfBin(index)});
  }
  last_ = {};
}

std::set<DensityPyramid::RowKey> DensityPyramid::TakeChangedRows() {
  last_ = {};
  return std::exchange(changed_, {});
}

DensityBins DensityPyramid::RowOf(const RowKey& key) const {
  for (const Level& level : levels_) {
    if (level.level != key.level) continue;
    const int64_t first = key.row << 6;
    const auto end =
        key.row == RowOfBin(kMax) ? level.bins.end() : level.bins.lower_bound(first + kRowBins);
    return {level.bins.lower_bound(first), end};
  }
  return {};
}

DensityPyramid DensityPyramid::Restore(int finest, const std::map<RowKey, DensityBins>& rows) {
  DensityPyramid pyramid;
  for (int i = 0; i < kLevels; ++i) {
    pyramid.levels_[static_cast<size_t>(i)].level = finest + i * kLevelStep;
  }
  for (const auto& [key, bins] : rows) {
    for (Level& level : pyramid.levels_) {
      if (level.level == key.level) level.bins.insert(bins.begin(), bins.end());
    }
  }
  return pyramid;
}

int LevelToRead(int finest, int wanted) {
  int level = finest;
  for (int i = 1; i < DensityPyramid::kLevels; ++i) {
    const int next = finest + i * DensityPyramid::kLevelStep;
    if (next <= wanted) level = next;
  }
  return level;
}

}  // namespace nanolane::timeline
