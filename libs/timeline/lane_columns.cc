// The pixel columns of LaneIndex: one pass over the edges, in batches that the caches hold.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include "libs/timeline/lane_rep.h"

namespace nanolane::timeline {

namespace {

using trace::Category;
using Probe = DisjointRow::Probe;

// Columns at a time: what they read of the lane's rows stays in the first cache.
constexpr size_t kBatch = 32;

uint32_t SaturatedCount(uint64_t count) {
  return static_cast<uint32_t>(std::min<uint64_t>(count, std::numeric_limits<uint32_t>::max()));
}

int64_t SaturatedLength(uint64_t length) {
  return static_cast<int64_t>(
      std::min<uint64_t>(length, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
}

// A sum over the rows of a column of at most about this extent fits 60 bits.
constexpr Wide kNarrowColumn = Wide{1} << 57;
static_assert(LaneRep::kMaxRows <= 4);

// The category of the slot with the greatest length, which is not 0; the lowest of several. Takes
// lengths of at most 60 bits of a multiple of eight slots, 0 where a slot is not in use. Compares
// numbers that end in the precedence, without branches, which would be unpredictable.
Category Greatest(const CategorySlots& slots, const SlotLengths& lengths, size_t slot_count) {
  uint64_t greatest = 0;
  for (size_t first = 0; first < slot_count; first += 8) {
    std::array<uint64_t, 8> ranked;
    for (size_t i = 0; i < 8; ++i) {
      ranked[i] = lengths[first + i] << 4U | slots.precedence()[first + i];
    }
    for (size_t half = 4; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) ranked[i] = std::max(ranked[i], ranked[i + half]);
    }
    greatest = std::max(greatest, ranked[0]);
  }
  return CategorySlots::CategoryOfPrecedence(greatest & 15U);
}

// As above, for lengths of any size.
Category Greatest(const CategorySlots& slots, const WideSlotLengths& lengths) {
  size_t best = 0;
  for (size_t slot = 1; slot < slots.size(); ++slot) {
    if (lengths[slot] > lengths[best] ||
        (lengths[slot] == lengths[best] && slots.precedence()[slot] > slots.precedence()[best])) {
      best = slot;
    }
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

// What each slot covers in the columns of one row, from the left to the right.
class RowSweep {
 public:
  // Adds to the first `slots` of `lengths` what the column between two places of a row covers;
  // `number` is the column's.
  void AddLengths(const Probe& from, const Probe& to, size_t number, size_t slots,
                  SlotLengths& lengths) {
    if (from.length == to.length) return;
    if (from.rank == to.rank) {
      lengths[DisjointRow::SlotBefore(to)] += to.length - from.length;
    } else if (DisjointRow::Near(from, to)) {
      DisjointRow::AddSlotLengths(from, to, lengths);
    } else {
      SlotLengths& left = before_[number % 2];
      SlotLengths& right = before_[(number + 1) % 2];
      if (known_edge_ != number) DisjointRow::SlotLengthsBefore(from, slots, left);
      DisjointRow::SlotLengthsBefore(to, slots, right);
      known_edge_ = number + 1;
      for (size_t slot = 0; slot < slots; ++slot) lengths[slot] += right[slot] - left[slot];
    }
  }

 private:
  // What each slot covers before an edge, by the parity of the edge's number.
  std::array<SlotLengths, 2> before_;
  size_t known_edge_ = std::numeric_limits<size_t>::max();  // the latest edge there
};

// Fills the columns between consecutive edges.
class ColumnFiller {
 public:
  ColumnFiller(const LaneRep& rep, const Window& window, std::span<PixelColumn> out)
      : rep_(rep),
        edges_(window, static_cast<uint32_t>(out.size())),
        out_(out),
        wide_columns_(Wide{window.end_ns} - window.start_ns >
                      kNarrowColumn * static_cast<Wide>(out.size())),
        overlaps_(rep) {}

  void Fill() {
    times_[0] = edges_.Next();
    if (any_overlap_) overlaps_.MoveTo(times_[0]);
    for (size_t filled = 0; filled < out_.size();) {
      const size_t count = std::min(kBatch, out_.size() - filled);
      for (size_t i = 1; i <= count; ++i) times_[i] = edges_.Next();
      Place(std::span<const int64_t>(times_).first(count + 1));
      if (active_rows_.empty() && !any_overlap_) {
        filled += count;  // nothing in the whole batch
      } else {
        for (size_t i = 1; i <= count; ++i, ++filled) FillOne(i, filled);
      }
      times_[0] = times_[count];
    }
  }

 private:
  using Probes = std::array<Probe, kBatch + 1>;

  // Places the edges of the batch in the rows in which something lies between them.
  void Place(std::span<const int64_t> times) {
    active_rows_.clear();
    for (size_t row = 0; row < rep_.rows.size(); ++row) {
      if (rep_.rows[row].Locate(times, hints_[row], rows_[row])) active_rows_.push_back(row);
    }
    row_active_ = !active_rows_.empty() && active_rows_.front() == 0;
    rest_active_ = rep_.rest.Locate(times, rest_hint_, rest_);
  }

  // The column between the edges i - 1 and i of the batch.
  void FillOne(size_t i, size_t number) {
    uint64_t starts = 0;
    for (const size_t row : active_rows_) {
      starts += rows_[row][i].rank - rows_[row][i - 1].rank;
    }
    if (any_overlap_) {
      overlaps_.MoveTo(times_[i]);
      starts += overlaps_.starts();
    }
    uint64_t covered = row_active_ ? rows_[0][i].length - rows_[0][i - 1].length : 0;
    if (rest_active_) covered += rest_[i].length - rest_[i - 1].length;
    if (starts == 0 && covered == 0) return;
    PixelColumn& column = out_[number];
    column.present = true;
    column.starts = SaturatedCount(starts);
    column.covered_ns = SaturatedLength(covered);
    if (rep_.slots.size() == 1) {
      column.dominant = rep_.slots.CategoryOf(0);
    } else {
      column.dominant = covered == 0 ? LowestInstant(i) : Dominant(i, number);
    }
  }

  // Of a column with instants alone; those of `overlap_instants` lie inside a span.
  Category LowestInstant(size_t i) const {
    uint32_t slots = 0;
    for (const size_t row : active_rows_) {
      slots |= DisjointRow::SlotsStarting(rows_[row][i - 1], rows_[row][i]);
    }
    return Lowest(rep_.slots, slots);
  }

  Category Dominant(size_t i, size_t number) {
    const bool overlaps = any_overlap_ && !overlaps_.idle();
    if (active_rows_.size() == 1 && !overlaps) {
      const Probes& row = rows_[active_rows_.front()];
      if (row[i - 1].rank == row[i].rank) {
        return rep_.slots.CategoryOf(DisjointRow::SlotBefore(row[i]));
      }
    }
    if (overlaps || wide_columns_) return DominantOfWide(i, number, overlaps);
    SlotLengths lengths;
    for (size_t slot = 0; slot < slot_count_; ++slot) lengths[slot] = 0;
    for (const size_t row : active_rows_) {
      sweeps_[row].AddLengths(rows_[row][i - 1], rows_[row][i], number, slot_count_, lengths);
    }
    return Greatest(rep_.slots, lengths, slot_count_);
  }

  // As above where the sum over rows and overlaps may exceed 64 bits.
  Category DominantOfWide(size_t i, size_t number, bool overlaps) {
    WideSlotLengths wide = {};
    for (const size_t row : active_rows_) {
      SlotLengths lengths = {};
      sweeps_[row].AddLengths(rows_[row][i - 1], rows_[row][i], number, slot_count_, lengths);
      for (size_t slot = 0; slot < kMaxSlots; ++slot) wide[slot] += lengths[slot];
    }
    if (overlaps) overlaps_.AddLengths(wide);
    return Greatest(rep_.slots, wide);
  }

  const LaneRep& rep_;
  EdgeWalker edges_;
  std::span<PixelColumn> out_;
  const size_t slot_count_ = rep_.slots.size() <= 8 ? 8 : kMaxSlots;  // in whole cache lines
  const bool any_overlap_ = !rep_.overlap_starts.empty() || !rep_.overlap_instants.empty();
  const bool wide_columns_;
  // Of the batch:
  std::array<int64_t, kBatch + 1> times_;
  std::array<Probes, LaneRep::kMaxRows> rows_;
  Probes rest_;
  std::vector<size_t> active_rows_;  // ascending
  bool row_active_ = false;          // the first row
  bool rest_active_ = false;

  std::array<DisjointRow::Hint, LaneRep::kMaxRows> hints_;
  DisjointRow::Hint rest_hint_;
  std::array<RowSweep, LaneRep::kMaxRows> sweeps_;
  OverlapSweep overlaps_;
};

}  // namespace

void LaneRep::FillColumns(const Window& window, std::span<PixelColumn> out) const {
  ColumnFiller(*this, window, out).Fill();
}

}  // namespace nanolane::timeline
