#include "libs/timeline/tiles/span_columns.h"

#include <algorithm>
#include <numeric>

namespace nanolane::timeline {

namespace {

// Ranges of at most so many columns are written out at once.
constexpr size_t kFewColumns = 4;

uint64_t Distance(int64_t from_ns, int64_t to_ns) {
  return static_cast<uint64_t>(to_ns) - static_cast<uint64_t>(from_ns);
}

}  // namespace

void RunList::Clear() {
  runs_.clear();
  merged_ = true;
}

void RunList::Add(int64_t start_ns, int64_t end_ns) {
  if (!runs_.empty()) {
    Run& last = runs_.back();
    if (last.start_ns <= start_ns && start_ns <= last.end_ns) {
      last.end_ns = std::max(last.end_ns, end_ns);
      return;
    }
    merged_ &= last.end_ns < start_ns;
  }
  if (runs_.size() >= limit_) {
    Merge();
    limit_ = std::max(limit_, runs_.size() * 2);
    if (!runs_.empty()) merged_ = runs_.back().end_ns < start_ns;
  }
  runs_.push_back({start_ns, end_ns});
}

void RunList::Merge() {
  if (merged_) return;
  std::sort(runs_.begin(), runs_.end(),
            [](const Run& a, const Run& b) { return a.start_ns < b.start_ns; });
  size_t kept = 0;
  for (const Run& run : runs_) {
    if (kept > 0 && run.start_ns <= runs_[kept - 1].end_ns) {
      runs_[kept - 1].end_ns = std::max(runs_[kept - 1].end_ns, run.end_ns);
    } else {
      runs_[kept++] = run;
    }
  }
  runs_.resize(kept);
  merged_ = true;
}

const std::vector<RunList::Run>& RunList::Merged() {
  Merge();
  return runs_;
}

SpanColumns::SpanColumns(const ColumnGrid& grid) : grid_(grid) { Reset(); }

void SpanColumns::Reset() {
  starts_.assign(grid_.size(), 0);
  longest_.assign(grid_.size(), Longest());
  ranges_.clear();
  weights_.Clear();
  full_changes_.Clear();
}

void SpanColumns::Add(const TileSpan& span) {
  const Window& window = grid_.window();
  const bool starts = span.start_ns >= window.start_ns;
  if (grid_.size() == 0 || span.start_ns >= window.end_ns) return;
  if (!starts && span.end_ns <= window.start_ns) return;
  const int64_t from_ns = std::max(span.start_ns, window.start_ns);
  const int64_t to_ns = std::min(std::max(span.end_ns, from_ns), window.end_ns);
  const size_t first = grid_.ColumnOf(from_ns);
  const bool inside = to_ns <= grid_.right_ns(first);
  const size_t last = inside ? first : grid_.ColumnOf(to_ns - 1);
  if (starts) ++starts_[first];
  AddWeight(first, span.label, Distance(from_ns, inside ? to_ns : grid_.right_ns(first)));
  if (last > first) {
    AddWeight(last, span.label, Distance(grid_.left_ns(last), to_ns));
    if (last > first + 1) {
      full_changes_.Add(static_cast<uint32_t>(first) + 1, span.label, 1);
      full_changes_.Add(static_cast<uint32_t>(last), span.label, ~uint64_t{0});
    }
  }
  AddLongest(first, last + 1, {span.length(), span.start_ns, span.label, true});
}

void SpanColumns::AddLongest(size_t from, size_t to, const Longest& longest) {
  if (to - from <= kFewColumns) {
    for (size_t i = from; i < to; ++i) longest_[i].Include(longest);
    return;
  }
  ranges_.push_back({static_cast<uint32_t>(from), static_cast<uint32_t>(to), longest});
  if (ranges_.size() >= std::max<size_t>(1024, 2 * grid_.size())) PaintRanges();
}

// The best first, each over the columns that no better one has taken. `next[i]` leads from column i
// to the first one from it on that is free.
void SpanColumns::PaintRanges() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.longest.BetterThan(b.longest); });
  std::vector<uint32_t> next(grid_.size() + 1);
  std::iota(next.begin(), next.end(), 0U);
  const auto free_from = [&next](uint32_t column) {
    while (next[column] != column) column = next[column] = next[next[column]];
    return column;
  };
  for (const Range& range : ranges_) {
    for (uint32_t i = free_from(range.from); i < range.to; i = free_from(i)) {
      longest_[i].Include(range.longest);
      next[i] = i + 1;
    }
  }
  ranges_.clear();
}

const std::vector<Longest>& SpanColumns::longest() {
  PaintRanges();
  return longest_;
}

}  // namespace nanolane::timeline
