#include "clients/desktop/model/lane_rows.h"

#include <algorithm>

namespace nanolane::desktop {

using trace::LaneKind;

LaneRows::LaneRows(LaneKind kind)
    : memory_(kind == LaneKind::kMemoryDriver || kind == LaneKind::kMemoryFramework),
      nested_(kind == LaneKind::kNvtxThread || kind == LaneKind::kNvtxStream) {}

void LaneRows::Append(const EventStore::Block& block, const trace::EventColumns& columns) {
  size_ += block.start_ns.size();
  if (nested_) {
    AppendNested(block);
    return;
  }
  spans_.Append({block.start_ns, block.duration_ns, block.category});
  if (!memory_) return;
  if (columns.level_bytes.size() == block.start_ns.size()) {
    held_.Append(block.start_ns, columns.level_bytes);
  }
  if (columns.reserved_bytes.size() == block.start_ns.size()) {
    reserved_.Append(block.start_ns, columns.reserved_bytes);
  }
}

void LaneRows::AppendNested(const EventStore::Block& block) {
  start_ns_.insert(start_ns_.end(), block.start_ns.begin(), block.start_ns.end());
  duration_ns_.insert(duration_ns_.end(), block.duration_ns.begin(), block.duration_ns.end());
  category_.insert(category_.end(), block.category.begin(), block.category.end());
  nesting_.Append(block.start_ns, block.duration_ns);
  nesting_.Update();
  rows_stale_ = true;
}

const std::vector<LaneRows::NestedRow>& LaneRows::Nested() const {
  if (!rows_stale_) return rows_;
  rows_stale_ = false;
  rows_.clear();
  rows_.resize(nesting_.row_count());
  for (size_t event = 0; event < nesting_.size(); ++event) {
    NestedRow& row = rows_[nesting_.NumberOf(nesting_.RowOf(event))];
    row.events.push_back(static_cast<uint32_t>(event));
  }
  for (NestedRow& row : rows_) {
    std::stable_sort(row.events.begin(), row.events.end(),
                     [this](uint32_t a, uint32_t b) { return start_ns_[a] < start_ns_[b]; });
    std::vector<int64_t> start;
    std::vector<int64_t> duration;
    std::vector<trace::Category> category;
    for (const uint32_t event : row.events) {
      start.push_back(start_ns_[event]);
      duration.push_back(duration_ns_[event]);
      category.push_back(category_[event]);
    }
    row.spans.Append({start, duration, category});
  }
  return rows_;
}

size_t LaneRows::depth() const { return nested_ ? std::max<size_t>(nesting_.row_count(), 1) : 1; }

uint32_t LaneRows::DepthOf(size_t event) const {
  if (!nested_ || event >= nesting_.size()) return 0;
  return static_cast<uint32_t>(nesting_.NumberOf(nesting_.RowOf(event)));
}

void LaneRows::Columns(uint32_t depth, const timeline::Window& window,
                       std::span<timeline::PixelColumn> out) const {
  if (!nested_) {
    spans_.Columns(window, out);
  } else if (depth < Nested().size()) {
    Nested()[depth].spans.Columns(window, out);
  } else {
    std::fill(out.begin(), out.end(), timeline::PixelColumn{});
  }
}

std::optional<size_t> LaneRows::EventAt(uint32_t depth, int64_t time_ns, int64_t slop_ns) const {
  if (!nested_) return spans_.EventAt(time_ns, slop_ns);
  if (depth >= Nested().size()) return std::nullopt;
  const NestedRow& row = Nested()[depth];
  const std::optional<size_t> found = row.spans.EventAt(time_ns, slop_ns);
  if (!found.has_value()) return std::nullopt;
  return row.events[*found];
}

int64_t LaneRows::Covered(uint32_t depth, const timeline::Window& window) const {
  if (!nested_) return spans_.Covered(window.start_ns, window.end_ns);
  if (depth >= Nested().size()) return 0;
  return Nested()[depth].spans.Covered(window.start_ns, window.end_ns);
}

size_t LaneRows::Count(const timeline::Window& window) const {
  if (!nested_) return spans_.Count(window);
  size_t count = 0;
  for (const NestedRow& row : Nested()) count += row.spans.Count(window);
  return count;
}

size_t LaneRows::MemoryBytes() const {
  size_t bytes = spans_.MemoryBytes() + held_.MemoryBytes() + reserved_.MemoryBytes() +
                 nesting_.MemoryBytes() + start_ns_.capacity() * sizeof(int64_t) +
                 duration_ns_.capacity() * sizeof(int64_t) +
                 category_.capacity() * sizeof(trace::Category);
  for (const NestedRow& row : rows_) {
    bytes += row.spans.MemoryBytes() + row.events.capacity() * sizeof(uint32_t);
  }
  return bytes;
}

std::optional<MemoryLevel> LaneRows::LevelAt(int64_t time_ns) const {
  const std::optional<int64_t> held = held_.LevelAt(time_ns);
  if (!held.has_value()) return std::nullopt;
  return MemoryLevel{*held, reserved_.LevelAt(time_ns)};
}

int64_t LaneRows::highest_level() const {
  return std::max<int64_t>({held_.highest().value_or(0), reserved_.highest().value_or(0), 0});
}

}  // namespace nanolane::desktop
