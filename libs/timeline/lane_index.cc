#include "libs/timeline/lane_index.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

#include "libs/timeline/lane_rep.h"
#include "libs/trace/model.h"

namespace nanolane::timeline {

namespace {

constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();

int64_t Saturated(uint64_t length) {
  return static_cast<int64_t>(std::min(length, static_cast<uint64_t>(kLatest)));
}

uint64_t Distance(int64_t from_ns, int64_t to_ns) {
  return static_cast<uint64_t>(to_ns) - static_cast<uint64_t>(from_ns);
}

}  // namespace

uint8_t CategorySlots::SlotOf(trace::Category category) {
  static_assert(trace::kCategoryCount < kMaxSlots);
  auto number = static_cast<size_t>(category);
  if (number >= trace::kCategoryCount) {  // of a newer writer
    category = trace::Category::kOtherKernel;
    number = static_cast<size_t>(category);
  }
  if (slot_of_[number] >= 0) return static_cast<uint8_t>(slot_of_[number]);
  const auto slot = static_cast<uint8_t>(categories_.size());
  slot_of_[number] = static_cast<int8_t>(slot);
  categories_.push_back(category);
  precedence_[slot] = static_cast<uint8_t>(trace::kCategoryCount - number);
  return slot;
}

// --- Writing ---

LaneRep::LaneRep() { rows.emplace_back(DisjointRow::Keep::kSpans); }

// Adds the span to the first row where it fits. Returns the row's number, or kMaxRows: to none.
size_t LaneRep::RowFor(const RowSpan& span) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].TryAdd(span)) return i;
  }
  if (rows.size() == kMaxRows) return kMaxRows;
  rows.emplace_back(DisjointRow::Keep::kSpans).TryAdd(span);
  return rows.size() - 1;
}

void LaneRep::Add(int64_t start_ns, int64_t duration_ns, trace::Category category, size_t index) {
  const RowSpan span = {.start_ns = start_ns,
                        .end_ns = trace::EndOf(start_ns, duration_ns),
                        .index = static_cast<uint32_t>(index),
                        .slot = slots.SlotOf(category)};
  first_ns = size == 0 ? span.start_ns : std::min(first_ns, span.start_ns);
  last_ns = size == 0 ? span.end_ns : std::max(last_ns, span.end_ns);
  ++size;
  const size_t row = RowFor(span);
  if (row == kMaxRows) {
    const Edge start = {span.start_ns, span.end_ns, span.index, span.slot};
    if (span.instant()) {
      overlap_instants.Insert(start);
    } else {
      overlap_starts.Insert(start);
      overlap_ends.Insert({span.end_ns, span.start_ns, span.index, span.slot});
    }
  }
  if (span.instant()) return;
  if (row > 0) {
    outside_row_.push_back({span.start_ns, span.end_ns});
  } else if (!rest.empty() && span.start_ns < rest.last_end_ns()) {
    late_in_row_.push_back({span.start_ns, span.end_ns});
  }
}

void LaneRep::Commit() {
  for (DisjointRow& row : rows) row.Commit();
  overlap_starts.Commit(slots.size());
  overlap_ends.Commit(slots.size());
  overlap_instants.Commit(1);
  CommitRest();
}

LaneIndex::LaneIndex() : rep_(std::make_unique<LaneRep>()) {}
LaneIndex::~LaneIndex() = default;
LaneIndex::LaneIndex(LaneIndex&&) noexcept = default;
LaneIndex& LaneIndex::operator=(LaneIndex&&) noexcept = default;

void LaneIndex::Append(const SpanBatch& batch) {
  const size_t count = batch.start_ns.size();
  assert(batch.duration_ns.size() == count && batch.category.size() == count);
  LaneRep& rep = *rep_;
  const size_t first_index = rep.size;
  assert(first_index + count <= std::numeric_limits<uint32_t>::max());
  if (std::is_sorted(batch.start_ns.begin(), batch.start_ns.end())) {
    for (size_t i = 0; i < count; ++i) {
      rep.Add(batch.start_ns[i], batch.duration_ns[i], batch.category[i], first_index + i);
    }
  } else {  // in order of time, so that each chunk is unpacked once
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&batch](uint32_t a, uint32_t b) {
      return batch.start_ns[a] < batch.start_ns[b];
    });
    for (const uint32_t i : order) {
      rep.Add(batch.start_ns[i], batch.duration_ns[i], batch.category[i], first_index + i);
    }
  }
  rep.Commit();
}

// --- Reading ---

size_t LaneIndex::size() const { return rep_->size; }
int64_t LaneIndex::first_ns() const { return rep_->first_ns; }
int64_t LaneIndex::last_ns() const { return rep_->last_ns; }
int64_t LaneIndex::busy_ns() const { return Saturated(rep_->covered()); }

int64_t LaneIndex::Covered(int64_t from_ns, int64_t to_ns) const {
  if (to_ns <= from_ns) return 0;
  return Saturated(rep_->CoveredBefore(to_ns) - rep_->CoveredBefore(from_ns));
}

size_t LaneIndex::Count(const Window& window) const {
  if (window.end_ns <= window.start_ns) return 0;
  const LaneRep& rep = *rep_;
  uint64_t count = 0;
  for (const DisjointRow& row : rep.rows) {
    const auto from = row.Locate(window.start_ns);
    count += row.Locate(window.end_ns).rank - from.rank;
    if (from.rank > 0 && row.At(from.rank - 1).end_ns > window.start_ns) ++count;
  }
  // Overlapping spans that start before the window's end, less those that end by its start.
  count += rep.overlap_starts.RankOf(window.end_ns) - rep.overlap_ends.RankAfter(window.start_ns);
  count +=
      rep.overlap_instants.RankOf(window.end_ns) - rep.overlap_instants.RankOf(window.start_ns);
  return static_cast<size_t>(count);
}

void LaneIndex::Columns(const Window& window, std::span<PixelColumn> out) const {
  std::fill(out.begin(), out.end(), PixelColumn());
  if (window.end_ns <= window.start_ns || rep_->size == 0 || out.empty()) return;
  rep_->FillColumns(window, out.first(WholeColumns(window, out.size())));
  SpreadNanoseconds(window, out);
}

size_t WholeColumns(const Window& window, size_t width) {
  return static_cast<size_t>(std::min<uint64_t>(Distance(window.start_ns, window.end_ns), width));
}

void SpreadNanoseconds(const Window& window, std::span<PixelColumn> out) {
  const uint64_t span = Distance(window.start_ns, window.end_ns);
  if (span >= out.size()) return;
  // In place from the last column on: a column's nanosecond never has a higher number than it.
  const auto width = static_cast<uint32_t>(out.size());
  for (uint32_t i = width; i-- > 0;) {
    const auto number = static_cast<uint32_t>(span * i / width);
    const PixelColumn nanosecond = out[number];
    const bool first = i == 0 || span * (i - 1) / width != number;
    const bool has_extent = span * (i + 1) / width != number;
    PixelColumn& column = out[i];
    column = PixelColumn();
    if (first) column.starts = nanosecond.starts;
    if (has_extent) column.covered_ns = nanosecond.covered_ns;
    column.edge_covered = !has_extent && nanosecond.covered_ns > 0;
    column.present = column.starts > 0 || nanosecond.covered_ns > 0;
    if (column.present) column.dominant = nanosecond.dominant;
  }
}

size_t LaneIndex::MemoryBytes() const {
  const LaneRep& rep = *rep_;
  size_t bytes = sizeof(LaneRep) + rep.rows.capacity() * sizeof(DisjointRow) +
                 rep.overlap_starts.MemoryBytes() + rep.overlap_ends.MemoryBytes() +
                 rep.overlap_instants.MemoryBytes() + rep.rest.MemoryBytes();
  for (const DisjointRow& row : rep.rows) bytes += row.MemoryBytes();
  return bytes;
}

}  // namespace nanolane::timeline
