// One image that holds the pixels of every visible row, so that all of them are drawn from a single
// texture in as few draw calls as there are layers.
//
// A stream has two texel rows (leaf indicator, density), other span rows have one, a memory row has
// as many as it is high. Texel x is physical pixel column x of the lanes. A row is painted again
// only when its lane, the window, the width or the style has changed. The GPU's copy is
// atlas_texture.h's. Thread-compatible.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "clients/desktop/model/filtered_lanes.h"
#include "clients/desktop/model/row_layout.h"
#include "clients/desktop/model/search_hits.h"
#include "clients/desktop/model/timeline_model.h"
#include "clients/desktop/render/row_pixels.h"

namespace nanolane::desktop {

class LaneAtlas {
 public:
  // Texel rows that a row was painted into, from `first`.
  struct Place {
    uint32_t first = 0;
    uint32_t count = 0;
  };
  static constexpr uint32_t kLeastHeight = 256;
  // Texel rows from which a frame starts with an empty image: rows that were scrolled out of sight
  // give up their place. Far more than are in sight at once.
  static constexpr uint32_t kMostHeight = 4'096;

  // Starts a frame: what Paint() is about. `scale` is physical pixels in a logical one.
  // `tiles` answers for what the model does not have of the window; null: it has everything.
  void Begin(const timeline::Window& window, uint32_t width, double scale, const RowStyle& style,
             const TileFrames* tiles = nullptr);

  // The row's pixels, painted now if they are not up to date. Not for headers. While a search is
  // on, what does not match is dimmed.
  // A filter leaves a faint mark where nothing that it shows lies, but something does.
  Place Paint(const LaneModel& lane, const Row& row, const SearchHits& hits,
              const FilteredLanes& filter);

  // The pixels of a level of a lane's stacks, in the colours of languages. `levels` may be null
  // (nothing is there yet); `version` is raised when they are others.
  Place PaintStack(const StackLevels* levels, uint64_t version, const Row& row);

  // Bars over `window`, `height` texels high: how busy the streams are, all of them together. Where
  // anything lies there is a bar. Painted again when the window or a good part of the data changes.
  // `tiles` as for Begin().
  Place PaintOverview(const TimelineModel& model, const timeline::Window& window, uint32_t height,
                      const TileFrames* tiles = nullptr);

  // The pixel columns that the row was painted from, by the last Paint(). Not for memory rows.
  std::span<const timeline::PixelColumn> ColumnsOf(const Row& row) const;

  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  std::span<const Rgba> texels() const { return texels_; }
  std::span<const Rgba> TexelRow(uint32_t row) const {
    return std::span<const Rgba>(texels_).subspan(static_cast<size_t>(row) * width_, width_);
  }

  // Texel rows that have changed since the last TakeDirty(): [first, second).
  std::pair<uint32_t, uint32_t> TakeDirty();
  // Rows painted so far: what caching saves shows here.
  uint64_t painted() const { return painted_; }

 private:
  struct Slot {
    Place place;
    uint64_t version = 0;
    uint64_t hits_version = 0;
    uint64_t filter_version = 0;
    uint64_t frame_key = 0;
    std::vector<timeline::PixelColumn> columns;
  };

  // What tells rows of the layout apart: lane, and depth with a bit for stack rows.
  static std::pair<size_t, uint32_t> SlotKey(const Row& row);
  Place Allocate(uint32_t count);
  std::span<Rgba> MutableRow(uint32_t row) {
    return std::span<Rgba>(texels_).subspan(static_cast<size_t>(row) * width_, width_);
  }
  static void SpansOf(const TileFrames* tiles, const LaneModel& lane, uint32_t depth,
                      const timeline::Window& window, std::span<timeline::PixelColumn> out);
  void PaintSpans(const LaneModel& lane, const Row& row, const SearchHits& hits,
                  const FilteredLanes& filter, Slot& slot);
  void PaintMemory(const LaneModel& lane, const Place& place);
  void MarkDirty(const Place& place);
  uint32_t TexelRowsOf(const Row& row) const;

  timeline::Window window_;
  double scale_ = 1;
  RowStyle style_;
  const TileFrames* tiles_ = nullptr;
  uint64_t tiles_version_ = 0;  // 0: without tiles
  RowStyle stack_style_;        // languages in place of categories
  uint64_t frame_key_ = 0;      // raised when window, width, scale, style or source changes
  uint32_t width_ = 0;
  uint32_t height_ = 0;
  uint32_t used_ = 0;
  std::vector<Rgba> texels_;
  std::vector<timeline::PixelColumn> columns_;
  std::vector<timeline::PixelColumn> shown_;
  std::vector<timeline::LevelColumn> levels_;
  absl::flat_hash_map<std::pair<size_t, uint32_t>, Slot> slots_;  // by SlotKey()
  struct OverviewSlot {
    Place place;
    timeline::Window window;
    Rgba color = 0;
    uint64_t events = 0;
    uint64_t generation = 0;
    uint64_t tiles_version = 0;
    bool complete = false;
  };
  OverviewSlot overview_;
  uint32_t dirty_from_ = 0;
  uint32_t dirty_to_ = 0;
  uint64_t painted_ = 0;
};

}  // namespace nanolane::desktop
