// The pixel columns of LaneIndex: one pass over the edges, in batches that the caches hold.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "libs/timeline/lane_rep.h"

namespace nanolane::timeline {

namespace {

using trace::Category;
using Probe = DisjointRow::Probe;

constexpr size_t kBatch = 32;

uint32_t SaturatedCount(uint64_t count) {
  return static_cast<uint32_t>(
      std::min<uint64_t>(count, std::numeric_limits<uint32_t>::max()));
}

int64_t SaturatedLength(uint64_t length) {
  return static_cast<int64_t>(
      std::min<uint64_t>(length, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
}

// The slot with the greatest length; the lowest category of several.
template <typename Lengths>
Category Greatest(const CategorySlots& slots, const Lengths& lengths) {
  uint8_t best = slots.ascending().front();
  for (const uint8_t slot : slots.ascending()) {
    if (lengths[slot] > lengths[best]) best = slot;
  }
  return slots.CategoryOf(best);
}

// The lowest category of a set of slots that is not empty.
Category Lowest(const CategorySlots& slots, uint32_t set) {
  Category lowest = slots.CategoryOf(static_cast<size_t>(std::countr_zero(set)));
  for (; set != 0; set &= set - 1) {
    lowest = std::min(lowest, slots.CategoryOf(static_cast<size_t>(std::countr_zero(set))));
  }
  return lowest;
}

// Sweeps over the spans that overlap the row: how many start, and what each slot covers.
class OverlapSweep {
 public:
  explicit OverlapSweep(const LaneRep& rep)
      : slot_count_(rep.slots.size()),
        to_{EdgeList::Cursor(rep.overlap_starts), EdgeList::Cursor(rep.overlap_ends),
            EdgeList::Cursor(rep.overlap_instants)},
        from_(to_) {}

  // Makes the current edge the left one and goes on to the next.
  void MoveTo(int64_t time_ns) {
    from_ = to_;
    if (to_known_) from_lengths_ = to_lengths_;
    from_known_ = to_known_;
    to_known_ = false;
    to_.time_ns = time_ns;
    to_.started = to_.starts.Seek(time_ns);
    to_.ended = to_.ends.Seek(time_ns);
    to_.instants_passed = to_.instants.Seek(time_ns);
  }

  // Of the column between the two edges:
  uint64_t starts() const {
    return to_.started - from_.started + to_.instants_passed - from_.instants_passed;
  }
  // No span overlaps it.
  bool idle() const { return to_.started == from_.ended; }

  void AddLengths(WideSlotLengths& lengths) {
    if (!from_known_) from_lengths_ = from_.Lengths();
    to_lengths_ = to_.Lengths();
    from_known_ = to_known_ = true;
    for (size_t slot = 0; slot < slot_count_; ++slot) {
      lengths[slot] += to_lengths_[slot] - from_lengths_[slot];
    }
  }

 private:
  struct Place {
    EdgeList::Cursor starts;
    EdgeList::Cursor ends;
    EdgeList::Cursor instants;
    int64_t time_ns = 0;
    uint64_t started = 0;
    uint64_t ended = 0;
    uint64_t instants_passed = 0;

    // Summed lengths before the place.
    WideSlotLengths Lengths() const {
      WideSlotLengths lengths = {};
      starts.AddLengths(time_ns, 1, lengths);
      ends.AddLengths(time_ns, -1, lengths);
      return lengths;
    }
  };

  size_t slot_count_;
  Place to_;
  Place from_;
  WideSlotLengths to_lengths_;
  WideSlotLengths from_lengths_;
  bool to_known_ = false;
  bool from_known_ = false;
};

// Fills the columns between consecutive edges.
class ColumnFiller {
 public:
  ColumnFiller(const LaneRep& rep, const Window& window, std::span<PixelColumn> out)
      : rep_(rep), edges_(window, static_cast<uint32_t>(out.size())), out_(out), overlaps_(rep) {}

  void Fill() {
    Place(0, 1);
    if (any_overlap_) overlaps_.MoveTo(times_[0]);
    for (size_t filled = 0; filled < out_.size();) {
      const size_t count = std::min(kBatch, out_.size() - filled);
      Place(1, count);
      for (size_t i = 1; i <= count; ++i) FillOne(i, out_[filled++]);
      row_[0] = row_[count];
      runs_[0] = runs_[count];
    }
  }

 private:
  // Places the next `count` edges, as number `first` of the batch and on.
  void Place(size_t first, size_t count) {
    for (size_t i = 0; i < count; ++i) times_[first + i] = edges_.Next();
    const auto times = std::span<const int64_t>(times_).subspan(first, count);
    rep_.row.Locate(times, row_hint_, std::span(row_).subspan(first, count));
    if (rep_.overlapping()) {
      rep_.runs.Locate(times, runs_hint_, std::span(runs_).subspan(first, count));
    }
  }

  // The column between the edges i - 1 and i of the batch.
  void FillOne(size_t i, PixelColumn& column) {
    const Probe& from = row_[i - 1];
    const Probe& to = row_[i];
    uint64_t starts = to.rank - from.rank;
    uint64_t covered = to.length - from.length;
    if (any_overlap_) {
      overlaps_.MoveTo(times_[i]);
      starts += overlaps_.starts();
      if (rep_.overlapping()) covered = runs_[i].length - runs_[i - 1].length;
    }
    if (starts == 0 && covered == 0) return;
    column.present = true;
    column.starts = SaturatedCount(starts);
    column.covered_ns = SaturatedLength(covered);
    column.dominant = Dominant(from, to, covered);
  }

  Category Dominant(const Probe& from, const Probe& to, uint64_t covered) {
    if (rep_.slots.size() == 1) return rep_.slots.CategoryOf(0);
    // Instants alone; all of them lie in the row, since the others lie inside a span.
    if (covered == 0) return Lowest(rep_.slots, rep_.row.SlotsStarting(from, to));
    SlotLengths lengths = {};
    DisjointRow::AddSlotLengths(from, to, lengths);
    if (!any_overlap_ || overlaps_.idle()) return Greatest(rep_.slots, lengths);
    WideSlotLengths wide;
    std::copy(lengths.begin(), lengths.end(), wide.begin());
    overlaps_.AddLengths(wide);
    return Greatest(rep_.slots, wide);
  }

  const LaneRep& rep_;
  EdgeWalker edges_;
  std::span<PixelColumn> out_;
  const bool any_overlap_ = rep_.overlapping() || !rep_.overlap_instants.empty();
  // Of the batch, with the last edge of the batch before it in front:
  std::array<int64_t, kBatch + 1> times_;
  std::array<Probe, kBatch + 1> row_;
  std::array<Probe, kBatch + 1> runs_;
  size_t row_hint_ = 0;
  size_t runs_hint_ = 0;
  OverlapSweep overlaps_;
};

}  // namespace

void LaneRep::FillColumns(const Window& window, std::span<PixelColumn> out) const {
  ColumnFiller(*this, window, out).Fill();
}

}  // namespace nanolane::timeline
