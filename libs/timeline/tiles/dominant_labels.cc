#include "libs/timeline/tiles/dominant_labels.h"

#include <algorithm>

namespace nanolane::timeline {

namespace {

constexpr Wide kAbsent = -1;

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

DominantLabels::DominantLabels(std::span<const Label> labels) {
  for (const Label& label : labels) {
    const bool known = static_cast<int>(label.category) < trace::kCategoryCount;
    category_of_.push_back(known ? label.category : trace::Category::kOtherKernel);
    names_.push_back(label.name);
  }
  std::sort(names_.begin(), names_.end());
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
  for (const Label& label : labels) {
    slot_of_.push_back(static_cast<uint32_t>(
        std::lower_bound(names_.begin(), names_.end(), label.name) - names_.begin()));
  }
  name_weights_.assign(names_.size(), kAbsent);
  category_weights_.fill(kAbsent);
}

void DominantLabels::Add(uint32_t label, Wide weight) {
  Wide& of_name = name_weights_[slot_of_[label]];
  if (of_name == kAbsent) {
    of_name = 0;
    slots_.push_back(slot_of_[label]);
  }
  of_name += weight;
  Wide& of_category = category_weights_[static_cast<size_t>(category_of_[label])];
  of_category = std::max<Wide>(of_category, 0) + weight;
}

void DominantLabels::TakeDominant(TileColumn& column) {
  uint32_t best = slots_.front();
  for (const uint32_t slot : slots_) {
    if (name_weights_[slot] > name_weights_[best] ||
        (name_weights_[slot] == name_weights_[best] && slot < best)) {
      best = slot;
    }
  }
  column.dominant_name = names_[best];
  const auto category = std::max_element(category_weights_.begin(), category_weights_.end());
  column.dominant = static_cast<trace::Category>(category - category_weights_.begin());
  for (const uint32_t slot : slots_) name_weights_[slot] = kAbsent;
  slots_.clear();
  category_weights_.fill(kAbsent);
}

absl::Status DominantLabels::Fill(const ColumnGrid& grid, SpanColumns& columns,
                                  std::span<TileColumn> out) {
  const auto& weights = columns.Weights();
  const auto& changes = columns.FullChanges();
  const auto unknown = [this](const ColumnWeights::Entry& entry) {
    return entry.label >= slot_of_.size();
  };
  // A label that covers a column wholly is also among the weights, of the column where it starts.
  if (std::any_of(weights.begin(), weights.end(), unknown)) {
    return absl::InvalidArgumentError("an event has a label that is not among the query's");
  }
  FullLabels full(slot_of_.size());
  auto weight = weights.begin();
  auto change = changes.begin();
  for (size_t i = 0; i < grid.size(); ++i) {
    for (; change != changes.end() && change->column == i; ++change) {
      full.Change(change->label, change->weight);
    }
    for (; weight != weights.end() && weight->column == i; ++weight) {
      Add(weight->label, weight->weight);
    }
    full.ForEach([&](uint32_t label, uint64_t count) {
      Add(label, static_cast<Wide>(grid.extent(i)) * static_cast<Wide>(count));
    });
    if (!slots_.empty()) TakeDominant(out[i]);
  }
  return absl::OkStatus();
}

}  // namespace nanolane::timeline
