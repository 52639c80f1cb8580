// The pixel columns of some categories of a lane whose spans do not overlap: exact, from the same
// sums per category that decide what is dominant.
#include <algorithm>
#include <array>
#include <bit>

#include "libs/timeline/lane_rep.h"

namespace nanolane::timeline {

namespace {

// Edges that are searched for together.
constexpr size_t kBatch = 32;

class MaskedFiller {
 public:
  MaskedFiller(const LaneRep& rep, uint32_t categories, const Window& window,
               std::span<PixelColumn> out)
      : rep_(rep),
        row_(rep.rows.front()),
        edges_(window, static_cast<uint32_t>(out.size())),
        out_(out) {
    for (size_t slot = 0; slot < rep.slots.size(); ++slot) {
      const auto category = static_cast<unsigned>(rep.slots.CategoryOf(slot));
      if ((categories >> category & 1U) != 0) slots_ |= 1U << slot;
    }
  }

  void Fill() {
    times_[0] = edges_.Next();
    for (size_t filled = 0; filled < out_.size();) {
      const size_t count = std::min(kBatch, out_.size() - filled);
      for (size_t i = 1; i <= count; ++i) times_[i] = edges_.Next();
      const auto times = std::span<const int64_t>(times_).first(count + 1);
      if (row_.Locate(times, hint_, probes_)) {
        for (size_t i = 1; i <= count; ++i) FillOne(i, out_[filled + i - 1]);
      }
      filled += count;
      times_[0] = times_[count];
    }
  }

 private:
  void FillOne(size_t i, PixelColumn& column) {
    const DisjointRow::Probe& from = probes_[i - 1];
    const DisjointRow::Probe& to = probes_[i];
    if (from.length == to.length && from.rank == to.rank) return;
    const uint32_t starting = DisjointRow::SlotsStarting(from, to) & slots_;
    column.starts = starting != 0 ? 1 : 0;
    AddLengths(from, to, column);
    column.present = column.starts > 0 || column.covered_ns > 0;
    if (column.covered_ns == 0 && starting != 0) column.dominant = Lowest(starting);
  }

  void AddLengths(const DisjointRow::Probe& from, const DisjointRow::Probe& to,
                  PixelColumn& column) const {
    if (from.length == to.length) return;
    if (from.rank == to.rank) {
      const uint8_t slot = DisjointRow::SlotBefore(to);
      if ((slots_ >> slot & 1U) == 0) return;
      column.covered_ns = static_cast<int64_t>(to.length - from.length);
      column.dominant = rep_.slots.CategoryOf(slot);
      return;
    }
    SlotLengths before;
    SlotLengths after;
    DisjointRow::SlotLengthsBefore(from, slot_count_, before);
    DisjointRow::SlotLengthsBefore(to, slot_count_, after);
    uint64_t greatest = 0;
    uint64_t covered = 0;
    for (uint32_t left = slots_; left != 0; left &= left - 1) {
      const auto slot = static_cast<size_t>(std::countr_zero(left));
      const uint64_t length = after[slot] - before[slot];
      if (length == 0) continue;
      covered += length;
      const trace::Category category = rep_.slots.CategoryOf(slot);
      if (length < greatest || (length == greatest && category > column.dominant)) continue;
      greatest = length;
      column.dominant = category;
    }
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    column.covered_ns = static_cast<int64_t>(std::min(covered, kMost));
  }

  trace::Category Lowest(uint32_t slots) const {
    trace::Category lowest = rep_.slots.CategoryOf(static_cast<size_t>(std::countr_zero(slots)));
    for (; slots != 0; slots &= slots - 1) {
      lowest =
          std::min(lowest, rep_.slots.CategoryOf(static_cast<size_t>(std::countr_zero(slots))));
    }
    return lowest;
  }

  const LaneRep& rep_;
  const DisjointRow& row_;
  EdgeWalker edges_;
  std::span<PixelColumn> out_;
  const size_t slot_count_ = rep_.slots.size() <= 8 ? 8 : kMaxSlots;
  uint32_t slots_ = 0;  // bit s: slot s is wanted
  DisjointRow::Hint hint_;
  std::array<int64_t, kBatch + 1> times_;
  std::array<DisjointRow::Probe, kBatch + 1> probes_;
};

}  // namespace

bool LaneIndex::disjoint() const {
  return rep_->rows.size() == 1 && rep_->overlap_starts.empty() && rep_->overlap_instants.empty();
}

bool LaneIndex::ColumnsOf(uint32_t categories, const Window& window,
                          std::span<PixelColumn> out) const {
  const LaneRep& rep = *rep_;
  if (!disjoint()) return false;
  std::fill(out.begin(), out.end(), PixelColumn());
  if (window.end_ns <= window.start_ns || rep.size == 0 || out.empty()) return true;
  const std::span<PixelColumn> whole = out.first(WholeColumns(window, out.size()));
  MaskedFiller(rep, categories, window, whole).Fill();
  SpreadNanoseconds(window, out);
  return true;
}

}  // namespace nanolane::timeline
