#include "libs/timeline/nested_rows.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "libs/trace/model.h"

namespace nanolane::timeline {

namespace {

constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();

// For each layer the end of its innermost open range, or kLatest; finds the first layer in which a
// range of a given end nests. A binary tree of maxima: leaf i at node size_ + i.
class LayerEnds {
 public:
  size_t layers() const { return layers_; }

  void AddLayer() {
    if (layers_ == size_) Grow();
    Set(layers_++, kLatest);
  }

  void Set(size_t layer, int64_t end_ns) {
    size_t node = size_ + layer;
    highest_[node] = end_ns;
    for (node /= 2; node > 0; node /= 2) {
      highest_[node] = std::max(highest_[2 * node], highest_[2 * node + 1]);
    }
  }

  // layers() if there is none.
  size_t FirstNotBefore(int64_t end_ns) const {
    if (layers_ == 0 || highest_[1] < end_ns) return layers_;
    size_t node = 1;
    while (node < size_) node = highest_[2 * node] >= end_ns ? 2 * node : 2 * node + 1;
    return std::min(node - size_, layers_);
  }

 private:
  void Grow() {
    const std::vector<int64_t> leaves(highest_.begin() + static_cast<ptrdiff_t>(size_),
                                      highest_.end());
    size_ = std::max<size_t>(2 * size_, 1);
    highest_.assign(2 * size_, std::numeric_limits<int64_t>::min());
    for (size_t i = 0; i < leaves.size(); ++i) Set(i, leaves[i]);
  }

  size_t layers_ = 0;
  size_t size_ = 0;
  std::vector<int64_t> highest_;
};

}  // namespace

// What is open, while ranges are taken in order.
class NestedRows::Sweep {
 public:
  // Closes what ends at or before `start_ns`. Returns whether nothing is open then.
  bool AdvanceTo(int64_t start_ns) {
    while (!ends_.empty() && ends_.top().first <= start_ns) {
      const uint32_t layer = ends_.top().second;
      ends_.pop();
      open_[layer].pop_back();  // the innermost ends first
      layer_ends_.Set(layer, open_[layer].empty() ? kLatest : open_[layer].back());
    }
    return ends_.empty();
  }

  // The row of a range that starts where the sweep is.
  Row Take(int64_t start_ns, int64_t end_ns) {
    const size_t layer = layer_ends_.FirstNotBefore(end_ns);
    if (layer == layer_ends_.layers()) {
      layer_ends_.AddLayer();
      open_.emplace_back();
    }
    const Row row = {static_cast<uint32_t>(layer), static_cast<uint32_t>(open_[layer].size())};
    if (end_ns > start_ns) {
      open_[layer].push_back(end_ns);
      layer_ends_.Set(layer, end_ns);
      ends_.emplace(end_ns, row.layer);
    }
    return row;
  }

 private:
  using EndAndLayer = std::pair<int64_t, uint32_t>;

  std::vector<std::vector<int64_t>> open_;  // ends by layer, outermost first: they do not increase
  LayerEnds layer_ends_;
  std::priority_queue<EndAndLayer, std::vector<EndAndLayer>, std::greater<>> ends_;
};

NestedRows::NestedRows() : sweep_(std::make_unique<Sweep>()) {}
NestedRows::~NestedRows() = default;
NestedRows::NestedRows(NestedRows&&) noexcept = default;
NestedRows& NestedRows::operator=(NestedRows&&) noexcept = default;

void NestedRows::Append(std::span<const int64_t> start_ns, std::span<const int64_t> duration_ns) {
  assert(start_ns.size() == duration_ns.size());
  assert(size() + start_ns.size() <= std::numeric_limits<uint32_t>::max());
  for (size_t i = 0; i < start_ns.size(); ++i) {
    start_ns_.push_back(start_ns[i]);
    end_ns_.push_back(trace::EndOf(start_ns[i], duration_ns[i]));
  }
}

// Whether `a` is taken before `b`. A total order.
bool NestedRows::Before(uint32_t a, uint32_t b) const {
  if (start_ns_[a] != start_ns_[b]) return start_ns_[a] < start_ns_[b];
  if (end_ns_[a] != end_ns_[b]) return end_ns_[a] > end_ns_[b];
  return a < b;
}

void NestedRows::Assign(uint32_t index, const Row& row, std::vector<uint32_t>& moved) {
  if (index < assigned_) {
    Row& old = rows_[index];
    if (old == row) return;
    --row_sizes_[old.layer][old.depth];
    moved.push_back(index);
  }
  rows_[index] = row;
  if (row.layer >= row_sizes_.size()) row_sizes_.resize(row.layer + 1);
  std::vector<uint32_t>& sizes = row_sizes_[row.layer];
  if (row.depth >= sizes.size()) sizes.resize(row.depth + 1, 0);
  ++sizes[row.depth];
}

void NestedRows::TrimRowSizes() {
  for (std::vector<uint32_t>& sizes : row_sizes_) {
    while (!sizes.empty() && sizes.back() == 0) sizes.pop_back();
  }
  while (!row_sizes_.empty() && row_sizes_.back().empty()) row_sizes_.pop_back();
}

// Makes room for the rows of what was appended, and returns it in order.
std::vector<uint32_t> NestedRows::TakeNew() {
  assigned_ = rows_.size();
  std::vector<uint32_t> added(size() - assigned_);
  std::iota(added.begin(), added.end(), static_cast<uint32_t>(assigned_));
  std::sort(added.begin(), added.end(), [this](uint32_t a, uint32_t b) { return Before(a, b); });
  rows_.resize(size());
  quiet_.resize(size());
  return added;
}

// Takes the ranges of order_ again from a place where nothing is open; the new ones lie between.
void NestedRows::Resweep(size_t from, size_t last_new, std::vector<uint32_t>& moved) {
  Sweep sweep;
  for (size_t i = from; i < order_.size(); ++i) {
    const uint32_t index = order_[i];
    const bool quiet = sweep.AdvanceTo(start_ns_[index]);
    if (i > last_new && quiet && quiet_[index] != 0) return;  // from here on all is as it was
    quiet_[index] = quiet ? 1 : 0;
    Assign(index, sweep.Take(start_ns_[index], end_ns_[index]), moved);
  }
  *sweep_ = std::move(sweep);
}

std::vector<uint32_t> NestedRows::Update() {
  std::vector<uint32_t> moved;
  const std::vector<uint32_t> added = TakeNew();
  if (added.empty()) return moved;
  const auto before = [this](uint32_t a, uint32_t b) { return Before(a, b); };
  const size_t old_size = order_.size();
  order_.insert(order_.end(), added.begin(), added.end());
  if (old_size == 0 || before(order_[old_size - 1], added.front())) {
    for (const uint32_t index : added) {
      quiet_[index] = sweep_->AdvanceTo(start_ns_[index]) ? 1 : 0;
      Assign(index, sweep_->Take(start_ns_[index], end_ns_[index]), moved);
    }
    return moved;
  }
  const auto begin = order_.begin();
  const auto old_end = begin + static_cast<ptrdiff_t>(old_size);
  const auto first_new = std::lower_bound(begin, old_end, added.front(), before);
  std::inplace_merge(first_new, old_end, order_.end(), before);
  const auto last_new = std::lower_bound(first_new, order_.end(), added.back(), before);
  auto from = first_new;
  if (from != begin) {
    do --from;
    while (quiet_[*from] == 0);  // the first range of all is quiet
  }
  Resweep(static_cast<size_t>(from - begin), static_cast<size_t>(last_new - begin), moved);
  TrimRowSizes();
  return moved;
}

size_t NestedRows::row_count() const {
  size_t count = 0;
  for (const std::vector<uint32_t>& sizes : row_sizes_) count += sizes.size();
  return count;
}

size_t NestedRows::NumberOf(const Row& row) const {
  size_t number = row.depth;
  for (size_t layer = 0; layer < row.layer; ++layer) number += row_sizes_[layer].size();
  return number;
}

size_t NestedRows::MemoryBytes() const {
  return (start_ns_.capacity() + end_ns_.capacity()) * sizeof(int64_t) +
         rows_.capacity() * sizeof(Row) + quiet_.capacity() + order_.capacity() * sizeof(uint32_t);
}

}  // namespace nanolane::timeline
