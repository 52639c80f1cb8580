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
    ranges_.Append(block.start_ns, block.duration_ns, block.category);
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

size_t LaneRows::depth() const { return nested_ ? std::max<size_t>(ranges_.row_count(), 1) : 1; }

uint32_t LaneRows::DepthOf(size_t event) const {
  return nested_ && event < ranges_.size() ? ranges_.RowOf(event) : 0;
}

void LaneRows::Columns(uint32_t depth, const timeline::Window& window,
                       std::span<timeline::PixelColumn> out) const {
  if (nested_) {
    ranges_.Columns(depth, window, out);
  } else {
    spans_.Columns(window, out);
  }
}

std::optional<size_t> LaneRows::EventAt(uint32_t depth, int64_t time_ns, int64_t slop_ns) const {
  return nested_ ? ranges_.EventAt(depth, time_ns, slop_ns) : spans_.EventAt(time_ns, slop_ns);
}

std::optional<size_t> LaneRows::Neighbour(uint32_t depth,
                                          const timeline::LaneIndex::EventPlace& place,
                                          bool backwards) const {
  return nested_ ? ranges_.Neighbour(depth, place, backwards) : spans_.Neighbour(place, backwards);
}

int64_t LaneRows::Covered(uint32_t depth, const timeline::Window& window) const {
  return nested_ ? ranges_.Covered(depth, window) : spans_.Covered(window.start_ns, window.end_ns);
}

size_t LaneRows::Count(const timeline::Window& window) const {
  return nested_ ? ranges_.Count(window) : spans_.Count(window);
}

size_t LaneRows::MemoryBytes() const {
  return spans_.MemoryBytes() + held_.MemoryBytes() + reserved_.MemoryBytes() +
         ranges_.MemoryBytes();
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
