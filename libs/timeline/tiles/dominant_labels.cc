#include "libs/timeline/tiles/dominant_labels.h"

#include <algorithm>
#include <bit>

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

// Weights of 64 bits where no sum can pass them, else of 128.
template <typename Weight>
class DominantLabels::Sums {
 public:
  explicit Sums(const DominantLabels& of) : of_(of), by_name_(of.names_.size()) {}

  void Add(uint32_t label, Weight weight) {
    const Slots slots = of_.slots_of_[label];
    // A name of no weight so far may be listed several times, which does no harm.
    if (by_name_[slots.name] == 0) listed_.push_back(slots.name);
    by_name_[slots.name] += weight;
    by_category_[slots.category] += weight;
    categories_ |= 1U << slots.category;
  }

  bool empty() const { return listed_.empty(); }

  // The greatest sums, the lowest of several; empties the sums.
  void Take(TileColumn& column) {
    uint32_t best = listed_.front();
    for (const uint32_t name : listed_) {
      if (by_name_[name] > by_name_[best] || (by_name_[name] == by_name_[best] && name < best)) {
        best = name;
      }
    }
    column.dominant_name = of_.names_[best];
    for (const uint32_t name : listed_) by_name_[name] = 0;
    listed_.clear();

    auto category = static_cast<size_t>(std::countr_zero(categories_));
    for (size_t i = category + 1; i < by_category_.size(); ++i) {
      if (by_category_[i] > by_category_[category]) category = i;
    }
    column.dominant = static_cast<trace::Category>(category);
    by_category_.fill(0);
    categories_ = 0;
  }

 private:
  const DominantLabels& of_;
  std::vector<Weight> by_name_;
  std::vector<uint32_t> listed_;
  std::array<Weight, trace::kCategoryCount> by_category_ = {};
  uint32_t categories_ = 0;  // a bit for each that is present
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
  Sums<uint64_t> narrow(*this);
  Sums<Wide> wide(*this);
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
    for (auto at = first; at != block; ++at) {
      RowWeights::ForEach(*at, [&](uint32_t label, uint64_t length) {
        if (is_narrow) {
          narrow.Add(label, length);
        } else {
          wide.Add(label, static_cast<Wide>(length));
        }
      });
    }
    if (!narrow.empty()) narrow.Take(out[i]);
    if (!wide.empty()) wide.Take(out[i]);
  }
  return absl::OkStatus();
}

}  // namespace nanolane::timeline
