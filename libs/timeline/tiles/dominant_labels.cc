#include "libs/timeline/tiles/dominant_labels.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace nanolane::timeline {

namespace {

// The labels whose spans cover a column from edge to edge, and how many of each do.
class FullLabels {
 public:
  explicit FullLabels(size_t labels) : count_(labels), is_listed_(labels) {}

  void Change(uint32_t label, uint64_t by) {
    count_[label] += by;
    if (is_listed_[label]) return;
    is_listed_[label] = true;
    listed_.push_back(label);
  }

  template <typename Visit>
  void ForEach(Visit visit) {
    size_t kept = 0;
    for (const uint32_t label : listed_) {
      is_listed_[label] = count_[label] != 0;
      if (!is_listed_[label]) continue;
      listed_[kept++] = label;
      visit(label, count_[label]);
    }
    listed_.resize(kept);
  }

 private:
  std::vector<uint64_t> count_;  // modulo 2^64 until all changes of the column are in
  std::vector<bool> is_listed_;
  std::vector<uint32_t> listed_;
};

}  // namespace

// Sums by category, and which categories are present.
template <typename Weight>
class DominantLabels::CategorySums {
 public:
  void Add(uint32_t category, Weight weight) {
    sums_[category] += weight;
    present_ |= 1U << category;
  }

  // The lowest of those with the greatest sum; empties the sums.
  trace::Category Take() {
    auto best = static_cast<size_t>(std::countr_zero(present_));
    for (size_t i = best + 1; i < sums_.size(); ++i) {
      if (sums_[i] > sums_[best]) best = i;
    }
    sums_.fill(0);
    present_ = 0;
    return static_cast<trace::Category>(best);
  }

 private:
  std::array<Weight, trace::kCategoryCount> sums_ = {};
  uint32_t present_ = 0;  // a bit for each category
};

// Of columns whose weights come from rows alone and have 32 bits each, so that no sum passes 64.
class DominantLabels::NarrowSums {
 public:
  explicit NarrowSums(const DominantLabels& of) : of_(of), by_name_(of.names_.size()) {}

  void Take(std::span<const RowWeights::Block> blocks, TileColumn& column) {
    const Slots* const slots_of = of_.slots_of_.data();
    uint64_t* const by_name = by_name_.data();
    CategorySums<uint64_t> categories;
    for (const RowWeights::Block& block : blocks) {
      for (const RowWeights::Cell& cell : block.cells) {
        const Slots slots = slots_of[cell.label];
        by_name[slots.name] += cell.low;
        categories.Add(slots.category, cell.low);
      }
    }
    column.dominant = categories.Take();
    uint64_t greatest = 0;
    uint32_t best = std::numeric_limits<uint32_t>::max();
    for (const RowWeights::Block& block : blocks) {
      for (const RowWeights::Cell& cell : block.cells) {
        const uint32_t name = slots_of[cell.label].name;
        // 0 where it comes again, which changes nothing: if all are 0, it is as low as before.
        const uint64_t sum = std::exchange(by_name[name], 0);
        if (sum > greatest || (sum == greatest && name < best)) {
          greatest = sum;
          best = name;
        }
      }
    }
    column.dominant_name = of_.names_[best];
  }

 private:
  const DominantLabels& of_;
  std::vector<uint64_t> by_name_;
};

// Of any columns.
class DominantLabels::WideSums {
 public:
  explicit WideSums(const DominantLabels& of) : of_(of), by_name_(of.names_.size()) {}

  void Add(uint32_t label, Wide weight) {
    const Slots slots = of_.slots_of_[label];
    // A name of no weight so far may be listed several times, which does no harm.
    if (by_name_[slots.name] == 0) listed_.push_back(slots.name);
    by_name_[slots.name] += weight;
    categories_.Add(slots.category, weight);
  }

  bool empty() const { return listed_.empty(); }

  // The greatest sums, the lowest of several; empties the sums.
  void Take(TileColumn& column) {
    column.dominant = categories_.Take();
    uint32_t best = listed_.front();
    for (const uint32_t name : listed_) {
      if (by_name_[name] > by_name_[best] || (by_name_[name] == by_name_[best] && name < best)) {
        best = name;
      }
    }
    column.dominant_name = of_.names_[best];
    for (const uint32_t name : listed_) by_name_[name] = 0;
    listed_.clear();
  }

 private:
  const DominantLabels& of_;
  std::vector<Wide> by_name_;
  std::vector<uint32_t> listed_;
  CategorySums<Wide> categories_;
};

DominantLabels::DominantLabels(std::span<const Label> labels) {
  for (const Label& label : labels) names_.push_back(label.name);
  std::sort(names_.begin(), names_.end());
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
  for (const Label& label : labels) {
    const bool known = static_cast<int>(label.category) < trace::kCategoryCount;
    slots_of_.push_back(
        {static_cast<uint32_t>(std::lower_bound(names_.begin(), names_.end(), label.name) -
                               names_.begin()),
         static_cast<uint32_t>(known ? label.category : trace::Category::kOtherKernel)});
  }
}

absl::Status DominantLabels::Check(std::span<const RowWeights::Block> blocks) const {
  uint32_t greatest = 0;
  for (const RowWeights::Block& block : blocks) {
    for (const RowWeights::Cell& cell : block.cells) greatest = std::max(greatest, cell.label);
  }
  if (blocks.empty() || greatest < slots_of_.size()) return absl::OkStatus();
  return absl::InvalidArgumentError("an event has a label that is not among the query's");
}

absl::Status DominantLabels::Fill(const ColumnGrid& grid, SpanColumns& spans, RowWeights& rows,
                                  std::span<TileColumn> out) {
  const auto& blocks = rows.Sorted();
  const auto& weights = spans.Weights();
  const auto& changes = spans.FullChanges();
  // A label that covers a column wholly is also among the weights, of the column where it starts.
  for (const ColumnWeights::Entry& entry : weights) {
    if (entry.label >= slots_of_.size()) {
      return absl::InvalidArgumentError("an event has a label that is not among the query's");
    }
  }
  if (absl::Status status = Check(blocks); !status.ok()) return status;
  FullLabels full(slots_of_.size());
  NarrowSums narrow(*this);
  WideSums wide(*this);
  auto block = blocks.begin();
  auto weight = weights.begin();
  auto change = changes.begin();
  for (size_t i = 0; i < grid.size(); ++i) {
    for (; change != changes.end() && change->column == i; ++change) {
      full.Change(change->label, change->weight);
    }
    for (; weight != weights.end() && weight->column == i; ++weight) {
      wide.Add(weight->label, static_cast<Wide>(weight->weight));
    }
    full.ForEach([&](uint32_t label, uint64_t count) {
      wide.Add(label, static_cast<Wide>(grid.extent(i)) * static_cast<Wide>(count));
    });
    // Fewer than 2^32 cells of 32 bits.
    const auto first = block;
    bool is_narrow = wide.empty();
    for (; block != blocks.end() && block->column == i; ++block) is_narrow &= !block->wide;
    const std::span<const RowWeights::Block> of_column(first, block);
    if (is_narrow && !of_column.empty()) {
      narrow.Take(of_column, out[i]);
      continue;
    }
    for (const RowWeights::Block& of_row : of_column) {
      RowWeights::ForEach(of_row, [&](uint32_t label, uint64_t length) {
        wide.Add(label, static_cast<Wide>(length));
      });
    }
    if (!wide.empty()) wide.Take(out[i]);
  }
  return absl::OkStatus();
}

}  // namespace nanolane::timeline
