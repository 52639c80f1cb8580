#include "clients/desktop/model/nested_spans.h"

#include <algorithm>
#include <tuple>

#include "clients/desktop/model/wide_math.h"
#include "libs/trace/model.h"

namespace nanolane::desktop {
namespace {

// Adds what the column holds of other spans, disjoint from those in `into`. Where both have some,
// the category is that of the longer.
void Merge(const timeline::PixelColumn& column, timeline::PixelColumn& into) {
  if (!column.present) return;
  if (!into.present || column.covered_ns > into.covered_ns) into.dominant = column.dominant;
  into.covered_ns = ClampToInt64(static_cast<Wide>(into.covered_ns) + column.covered_ns);
  into.starts += column.starts;
  into.edge_covered = into.edge_covered || column.edge_covered;
  into.present = true;
}

}  // namespace

int64_t NestedSpans::EndOf(size_t event) const {
  return trace::EndOf(start_ns_[event], duration_ns_[event]);
}

void NestedSpans::Append(std::span<const int64_t> start_ns, std::span<const int64_t> duration_ns,
                         std::span<const trace::Category> category) {
  if (start_ns.empty()) return;
  for (size_t i = 0; i < start_ns.size(); ++i) {
    tail_.push_back(static_cast<uint32_t>(start_ns_.size() + i));
  }
  start_ns_.insert(start_ns_.end(), start_ns.begin(), start_ns.end());
  duration_ns_.insert(duration_ns_.end(), duration_ns.begin(), duration_ns.end());
  category_.insert(category_.end(), category.begin(), category.end());
  nesting_.Append(start_ns, duration_ns);
  nesting_.Update();
  stale_ = true;
  const int64_t earliest = *std::min_element(start_ns.begin(), start_ns.end());
  if (earliest < settled_ns_) Unsettle(earliest);
}

void NestedSpans::Unsettle(int64_t earliest_ns) {
  settled_ns_ = std::numeric_limits<int64_t>::min();
  rows_.clear();
  by_number_.clear();
  tail_.resize(size());
  for (size_t i = 0; i < size(); ++i) tail_[i] = static_cast<uint32_t>(i);
  const auto reach = std::count_if(start_ns_.begin(), start_ns_.end(),
                                   [=](int64_t start) { return start >= earliest_ns; });
  margin_ = std::clamp(static_cast<size_t>(reach) * 2, margin_, kMostMargin);
}

void NestedSpans::Refresh() const {
  if (!stale_) return;
  stale_ = false;
  std::sort(tail_.begin(), tail_.end(), [this](uint32_t a, uint32_t b) {
    return start_ns_[a] != start_ns_[b] ? start_ns_[a] < start_ns_[b] : a < b;
  });
  for (auto& [key, row] : rows_) row.tail = Part();
  if (tail_.size() > margin_ * 2) Settle();
  Fill(tail_, &Row::tail);
  by_number_.clear();
  for (uint32_t layer = 0; layer < nesting_.layer_count(); ++layer) {
    for (uint32_t depth = 0; depth < nesting_.depth_count(layer); ++depth) {
      by_number_.push_back(&rows_[{layer, depth}]);
    }
  }
}

// How many of the tail's first ranges end before all others begin, and a moment between them: at
// most all but the margin, or the most that there are.
size_t NestedSpans::SettledEnd(int64_t& moment_ns) const {
  constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();
  int64_t open_until = std::numeric_limits<int64_t>::min();
  size_t best = 0;
  for (size_t i = 0; i < tail_.size(); ++i) {
    const int64_t start = start_ns_[tail_[i]];
    const bool quiet = i > 0 && open_until <= start && start_ns_[tail_[i - 1]] < start;
    if (quiet && (best == 0 || i <= tail_.size() - margin_)) {
      best = i;
      moment_ns = start;
    }
    open_until = std::max(open_until, EndOf(tail_[i]));
  }
  const int64_t last_start = start_ns_[tail_.back()];
  if (best == 0 && last_start < kLatest) {
    best = tail_.size();
    moment_ns = std::max(open_until, last_start + 1);
  }
  return best;
}

void NestedSpans::Settle() const {
  int64_t moment_ns = settled_ns_;
  const size_t count = SettledEnd(moment_ns);
  if (count == 0) return;
  Fill(std::span<const uint32_t>(tail_).first(count), &Row::settled);
  tail_.erase(tail_.begin(), tail_.begin() + static_cast<std::ptrdiff_t>(count));
  settled_ns_ = moment_ns;
}

void NestedSpans::Fill(std::span<const uint32_t> events, Part Row::*part) const {
  struct Batch {
    std::vector<int64_t> start;
    std::vector<int64_t> duration;
    std::vector<trace::Category> category;
  };
  std::map<Part*, Batch> batches;
  for (const uint32_t event : events) {
    const timeline::NestedRows::Row place = nesting_.RowOf(event);
    Part& into = rows_[{place.layer, place.depth}].*part;
    into.events.push_back(event);
    Batch& batch = batches[&into];
    batch.start.push_back(start_ns_[event]);
    batch.duration.push_back(duration_ns_[event]);
    batch.category.push_back(category_[event]);
  }
  for (const auto& [into, batch] : batches) {
    into->spans.Append({batch.start, batch.duration, batch.category});
  }
  work_ += events.size();
}

const NestedSpans::Row* NestedSpans::Fresh(uint32_t row) const {
  Refresh();
  return row < by_number_.size() ? by_number_[row] : nullptr;
}

void NestedSpans::Columns(uint32_t row, const timeline::Window& window,
                          std::span<timeline::PixelColumn> out) const {
  const Row* of = Fresh(row);
  if (of == nullptr) {
    std::fill(out.begin(), out.end(), timeline::PixelColumn{});
    return;
  }
  of->settled.spans.Columns(window, out);
  if (of->tail.events.empty()) return;
  columns_.resize(out.size());
  of->tail.spans.Columns(window, columns_);
  for (size_t i = 0; i < out.size(); ++i) Merge(columns_[i], out[i]);
}

bool NestedSpans::Nearer(size_t a, size_t b, int64_t time_ns) const {
  const auto rank = [this, time_ns](size_t event) {
    const int64_t start = start_ns_[event];
    const int64_t end = EndOf(event);
    const bool runs = start <= time_ns && (time_ns < end || start == time_ns);
    const auto away = [time_ns](int64_t edge) {
      const Wide distance = static_cast<Wide>(edge) - time_ns;
      return distance < 0 ? -distance : distance;
    };
    const Wide distance = runs ? Wide{-1} : std::min(away(start), away(end));
    return std::make_tuple(distance, -static_cast<Wide>(start), end, -static_cast<Wide>(event));
  };
  return rank(a) < rank(b);
}

std::optional<size_t> NestedSpans::EventAt(uint32_t row, int64_t time_ns, int64_t slop_ns) const {
  const Row* of = Fresh(row);
  if (of == nullptr) return std::nullopt;
  const std::optional<size_t> settled = of->settled.spans.EventAt(time_ns, slop_ns);
  const std::optional<size_t> late = of->tail.spans.EventAt(time_ns, slop_ns);
  if (!late.has_value() && !settled.has_value()) return std::nullopt;
  if (!late.has_value()) return of->settled.events[*settled];
  if (!settled.has_value()) return of->tail.events[*late];
  const size_t a = of->settled.events[*settled];
  const size_t b = of->tail.events[*late];
  return Nearer(a, b, time_ns) ? a : b;
}

std::optional<size_t> NestedSpans::Neighbour(uint32_t row,
                                             const timeline::LaneIndex::EventPlace& place,
                                             bool backwards) const {
  const Row* of = Fresh(row);
  if (of == nullptr) return std::nullopt;
  // A part counts its ranges in order of time, then of arrival: its place is that of the first
  // range that comes no earlier.
  const auto in_part = [&](const Part& part) {
    const auto earlier = [this](uint32_t event, const timeline::LaneIndex::EventPlace& than) {
      return std::make_tuple(start_ns_[event], static_cast<int64_t>(event)) <
             std::make_tuple(than.start_ns, than.index);
    };
    const auto at = std::lower_bound(part.events.begin(), part.events.end(), place, earlier);
    timeline::LaneIndex::EventPlace local = place;
    local.index = at - part.events.begin();
    const bool own = at != part.events.end() && static_cast<int64_t>(*at) == place.index;
    if (!backwards && !own) --local.index;
    const std::optional<size_t> found = part.spans.Neighbour(local, backwards);
    return found.has_value() ? std::optional<size_t>(part.events[*found]) : std::nullopt;
  };
  // All of the tail comes after all that is settled.
  const Part& near = backwards ? of->tail : of->settled;
  const Part& far = backwards ? of->settled : of->tail;
  const std::optional<size_t> found = in_part(near);
  return found.has_value() ? found : in_part(far);
}

int64_t NestedSpans::Covered(uint32_t row, const timeline::Window& window) const {
  const Row* of = Fresh(row);
  if (of == nullptr) return 0;
  return ClampToInt64(static_cast<Wide>(of->settled.spans.Covered(window.start_ns, window.end_ns)) +
                      of->tail.spans.Covered(window.start_ns, window.end_ns));
}

size_t NestedSpans::Count(const timeline::Window& window) const {
  Refresh();
  size_t count = 0;
  for (const Row* row : by_number_) {
    count += row->settled.spans.Count(window) + row->tail.spans.Count(window);
  }
  return count;
}

size_t NestedSpans::MemoryBytes() const {
  size_t bytes = nesting_.MemoryBytes() + start_ns_.capacity() * sizeof(int64_t) +
                 duration_ns_.capacity() * sizeof(int64_t) +
                 category_.capacity() * sizeof(trace::Category) +
                 tail_.capacity() * sizeof(uint32_t);
  for (const auto& [key, row] : rows_) {
    for (const Part* part : {&row.settled, &row.tail}) {
      bytes += part->spans.MemoryBytes() + part->events.capacity() * sizeof(uint32_t);
    }
  }
  return bytes;
}

}  // namespace nanolane::desktop
