#include "clients/desktop/render/lane_atlas.h"

#include <algorithm>
#include <cmath>

namespace nanolane::desktop {
namespace {

// Rows without a leaf indicator keep what they hold visible by a least opacity.
constexpr DensityPaint kStreamPaint = {.least = 0, .full = 255};
constexpr DensityPaint kSyncPaint = {.least = 150, .full = 255};
constexpr DensityPaint kNvtxPaint = {.least = 120, .full = 112};
constexpr DensityPaint kStackPaint = {.least = 90, .full = 255};
constexpr uint32_t kStackBit = 1U << 31;

// While a search is on: what matches is seen, whatever its share of the column; the rest is faint.
constexpr uint32_t kLeastHitAlpha = 140;

// What a filter hides: there, and no more than that.
constexpr uint32_t kHiddenLeafAlpha = 56;
constexpr uint32_t kHiddenAlpha = 40;

void Dim(std::span<Rgba> texels) {
  for (Rgba& texel : texels) texel = WithAlpha(texel, (texel >> kAlphaShift) / 5);
}

const DensityPaint& PaintOf(RowKind kind) {
  if (kind == RowKind::kStream) return kStreamPaint;
  return kind == RowKind::kNvtx ? kNvtxPaint : kSyncPaint;
}

}  // namespace

void LaneAtlas::Begin(const timeline::Window& window, uint32_t width, double scale,
                      const RowStyle& style, const TileFrames* tiles) {
  // The columns of another source are other ones.
  const uint64_t tiles_version = tiles != nullptr ? tiles->version() + 1 : 0;
  const bool same = tiles_version == tiles_version_ && width == width_ &&
                    window.start_ns == window_.start_ns && window.end_ns == window_.end_ns &&
                    scale == scale_ && style == style_;
  if (same && used_ <= kMostHeight) return;
  if (width != width_ || scale != scale_ || used_ > kMostHeight) {
    slots_.clear();
    overview_ = {};
    used_ = 0;
    height_ = kLeastHeight;
    texels_.assign(static_cast<size_t>(width) * height_, 0);
    dirty_from_ = 0;
    dirty_to_ = height_;
  }
  window_ = window;
  width_ = width;
  scale_ = scale;
  style_ = style;
  tiles_ = tiles;
  tiles_version_ = tiles_version;
  stack_style_ = style;
  stack_style_.category = style.language;
  ++frame_key_;
}

std::pair<size_t, uint32_t> LaneAtlas::SlotKey(const Row& row) {
  return {row.lane, row.kind == RowKind::kStack ? row.depth | kStackBit : row.depth};
}

LaneAtlas::Place LaneAtlas::PaintStack(const StackLevels* levels, uint64_t version,
                                       const Row& row) {
  auto [found, added] = slots_.try_emplace(SlotKey(row));
  Slot& slot = found->second;
  if (added) {
    slot.place = Allocate(1);
  } else if (slot.version == version && slot.frame_key == frame_key_) {
    return slot.place;
  }
  slot.version = version;
  slot.frame_key = frame_key_;
  slot.columns.assign(width_, {});
  if (levels != nullptr && row.depth < levels->size()) {
    levels->index(row.depth).Columns(window_, slot.columns);
  }
  PaintDensity(slot.columns, window_, stack_style_, kStackPaint, MutableRow(slot.place.first));
  ++painted_;
  MarkDirty(slot.place);
  return slot.place;
}

LaneAtlas::Place LaneAtlas::Paint(const LaneModel& lane, const Row& row, const SearchHits& hits,
                                  const FilteredLanes& filter) {
  const uint32_t count = TexelRowsOf(row);
  auto [found, added] = slots_.try_emplace(SlotKey(row));
  Slot& slot = found->second;
  if (added || slot.place.count != count) {
    slot.place = Allocate(count);
  } else if (slot.version == lane.version && slot.frame_key == frame_key_ &&
             slot.hits_version == hits.version(row.lane) &&
             slot.filter_version == filter.version(row.lane)) {
    return slot.place;
  }
  slot.version = lane.version;
  slot.hits_version = hits.version(row.lane);
  slot.filter_version = filter.version(row.lane);
  slot.frame_key = frame_key_;
  if (row.kind == RowKind::kMemory) {
    PaintMemory(lane, slot.place);
  } else {
    PaintSpans(lane, row, hits, filter, slot);
  }
  ++painted_;
  MarkDirty(slot.place);
  return slot.place;
}

void LaneAtlas::MarkDirty(const Place& place) {
  const bool clean = dirty_from_ == dirty_to_;
  dirty_from_ = clean ? place.first : std::min(dirty_from_, place.first);
  dirty_to_ = std::max(clean ? 0 : dirty_to_, place.first + place.count);
}

LaneAtlas::Place LaneAtlas::PaintOverview(const TimelineModel& model,
                                          const timeline::Window& window, uint32_t height,
                                          const TileFrames* tiles) {
  const uint64_t tiles_version = tiles != nullptr ? tiles->version() + 1 : 0;
  // While everything pours in, not for every block.
  const bool complete = model.phase() != TimelineModel::Phase::kLoading;
  const uint64_t few = complete ? 1 : overview_.events / 16 + 1;
  const bool fresh = overview_.place.count == height && overview_.color == style_.leaf &&
                     overview_.window.start_ns == window.start_ns &&
                     overview_.window.end_ns == window.end_ns && overview_.complete == complete &&
                     (overview_.generation == model.generation() || tiles != nullptr) &&
                     overview_.tiles_version == tiles_version &&
                     model.received_events() < overview_.events + few;
  if (fresh || width_ == 0 || height == 0) return overview_.place;
  if (overview_.place.count != height) overview_.place = Allocate(height);
  overview_.window = window;
  overview_.color = style_.leaf;
  overview_.events = model.received_events();
  overview_.generation = model.generation();
  overview_.tiles_version = tiles_version;
  overview_.complete = complete;

  // Opacities add up over the streams; two busy streams are twice as high as one.
  std::vector<uint32_t> levels(width_, 0);
  std::vector<bool> present(width_, false);
  uint32_t highest = 255;
  columns_.resize(width_);
  for (const auto& lane : model.lanes()) {
    if (lane->facts.lane.kind != trace::LaneKind::kStream) continue;
    if (tiles == nullptr && lane->rows.empty()) continue;
    SpansOf(tiles, *lane, 0, window, columns_);
    for (uint32_t i = 0; i < width_; ++i) {
      const int64_t extent =
          timeline::ColumnEdge(window, width_, i + 1) - timeline::ColumnEdge(window, width_, i);
      levels[i] += DensityAlpha(columns_[i], extent);
      present[i] = present[i] || columns_[i].present;
      highest = std::max(highest, levels[i]);
    }
  }
  const Rgba bar = WithAlpha(style_.leaf, 200);
  for (uint32_t y = 0; y < height; ++y) {
    const std::span<Rgba> row = MutableRow(overview_.place.first + y);
    const uint32_t from_bottom = height - y;
    for (uint32_t i = 0; i < width_; ++i) {
      const uint32_t reach = std::max<uint32_t>(present[i] ? 2 : 0, levels[i] * height / highest);
      row[i] = from_bottom <= reach ? bar : 0;
    }
  }
  MarkDirty(overview_.place);
  return overview_.place;
}

void LaneAtlas::SpansOf(const TileFrames* tiles, const LaneModel& lane, uint32_t depth,
                        const timeline::Window& window, std::span<timeline::PixelColumn> out) {
  if (tiles != nullptr) {
    tiles->Spans(lane.facts.id, window, out);
  } else {
    lane.rows.Columns(depth, window, out);
  }
}

LaneAtlas::Place LaneAtlas::Allocate(uint32_t count) {
  while (used_ + count > height_) {
    height_ *= 2;
    texels_.resize(static_cast<size_t>(width_) * height_, 0);
    dirty_from_ = 0;
    dirty_to_ = height_;
  }
  used_ += count;
  return {used_ - count, count};
}

void LaneAtlas::PaintSpans(const LaneModel& lane, const Row& row, const SearchHits& hits,
                           const FilteredLanes& filter, Slot& slot) {
  const Place& place = slot.place;
  const DensityPaint& paint = PaintOf(row.kind);
  const std::span<Rgba> density = MutableRow(place.first + place.count - 1);
  slot.columns.resize(width_);
  SpansOf(tiles_, lane, row.depth, window_, slot.columns);
  shown_.resize(width_);
  // What is hidden and what is hit are known of events that are loaded.
  const bool all = tiles_ != nullptr || filter.Columns(lane, row.lane, row.depth, window_,
                                                       shown_) == FilteredLanes::Part::kAll;
  const std::span<const timeline::PixelColumn> shown = all ? slot.columns : shown_;
  if (place.count == 2) PaintLeaves(shown, style_.leaf, MutableRow(place.first));
  PaintDensity(shown, window_, style_, paint, density);
  if (!all) {
    if (place.count == 2) {
      PaintHidden(slot.columns, shown, WithAlpha(style_.leaf, kHiddenLeafAlpha),
                  MutableRow(place.first));
    }
    PaintHidden(slot.columns, shown, WithAlpha(style_.hidden, kHiddenAlpha), density);
  }
  if (!hits.active() || tiles_ != nullptr) return;
  Dim(density);
  const timeline::LaneIndex* found = hits.Of(row.lane);
  if (found == nullptr || row.kind == RowKind::kNvtx) return;
  columns_.resize(width_);
  found->Columns(window_, columns_);
  std::vector<Rgba> above(width_);
  PaintDensity(columns_, window_, style_, {.least = kLeastHitAlpha, .full = paint.full}, above);
  for (uint32_t i = 0; i < width_; ++i) {
    if (above[i] != 0) density[i] = above[i];
  }
}

std::span<const timeline::PixelColumn> LaneAtlas::ColumnsOf(const Row& row) const {
  const auto found = slots_.find(SlotKey(row));
  if (found == slots_.end()) return {};
  return found->second.columns;
}

void LaneAtlas::PaintMemory(const LaneModel& lane, const Place& place) {
  std::vector<std::span<Rgba>> rows;
  for (uint32_t y = 0; y < place.count; ++y) rows.push_back(MutableRow(place.first + y));
  for (const std::span<Rgba> row : rows) std::fill(row.begin(), row.end(), 0);
  const int64_t highest =
      tiles_ != nullptr ? tiles_->HighestLevel(lane.facts.id) : lane.rows.highest_level();
  const auto line = static_cast<uint32_t>(std::max(1L, std::lround(scale_)));
  levels_.resize(width_);
  if (tiles_ != nullptr) {
    tiles_->Levels(lane.facts.id, window_, levels_);
    PaintLevels(levels_, highest, line, style_, rows);
    return;
  }
  if (lane.rows.reserved().size() > 0) {
    lane.rows.reserved().Columns(window_, levels_);
    PaintLevelLine(levels_, highest, line, WithAlpha(style_.memory_line, style_.memory_range),
                   rows);
  }
  lane.rows.held().Columns(window_, levels_);
  PaintLevels(levels_, highest, line, style_, rows);
}

uint32_t LaneAtlas::TexelRowsOf(const Row& row) const {
  if (row.kind == RowKind::kStream) return 2;
  if (row.kind == RowKind::kMemory)
    return static_cast<uint32_t>(std::lround(kMemoryPlotHeight * scale_));
  return 1;
}

std::pair<uint32_t, uint32_t> LaneAtlas::TakeDirty() {
  const std::pair<uint32_t, uint32_t> dirty(dirty_from_, dirty_to_);
  dirty_from_ = dirty_to_ = 0;
  return dirty;
}

}  // namespace nanolane::desktop
