// The pixels of one row of the timeline, one texel per physical pixel column. Pure functions of
// what libs/timeline says of the columns.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "libs/timeline/columns.h"
#include "libs/timeline/memory_index.h"
#include "libs/trace/kinds.h"

namespace nanolane::desktop {

// A texel: red in the lowest byte, alpha in the highest; not premultiplied.
using Rgba = uint32_t;

inline constexpr uint32_t kAlphaShift = 24;
inline constexpr Rgba kColorMask = 0x00FFFFFF;

inline Rgba WithAlpha(Rgba color, uint32_t alpha) {
  return (color & kColorMask) | (alpha << kAlphaShift);
}

// How rows are coloured. Equal styles give equal pixels.
struct RowStyle {
  std::array<Rgba, trace::kCategoryCount> category{};  // opaque
  std::array<Rgba, trace::kCategoryCount> language{};  // of stack rows, by trace::Language; opaque
  Rgba leaf = 0;                                       // the leaf indicator
  Rgba hidden = 0;                                     // what a filter hides
  Rgba memory_line = 0;                                // highest level
  uint32_t memory_fill = 0x38;                         // alpha under the lowest level
  uint32_t memory_range = 0x70;                        // alpha from the lowest to the highest

  bool operator==(const RowStyle&) const = default;
};

// Opacity of a column: the covered share of its time, rounded to 1/255. A column without any extent
// of time (below 1 ns per pixel) is opaque when a span runs at its edge.
uint32_t DensityAlpha(const timeline::PixelColumn& column, int64_t extent_ns);

// Leaf indicator: opaque in every column that holds an event, an instant too; else clear.
void PaintLeaves(std::span<const timeline::PixelColumn> columns, Rgba color, std::span<Rgba> out);

// Density: the dominant category's colour at DensityAlpha, times `full` / 255; but at least `least`
// in columns that hold something, for rows that have no leaf indicator.
struct DensityPaint {
  uint32_t least = 0;
  uint32_t full = 255;
};
void PaintDensity(std::span<const timeline::PixelColumn> columns, const timeline::Window& window,
                  const RowStyle& style, const DensityPaint& paint, std::span<Rgba> out);

// Sets the columns that hold something in `all` and nothing in `shown` to `color`. Of equal widths.
void PaintHidden(std::span<const timeline::PixelColumn> all,
                 std::span<const timeline::PixelColumn> shown, Rgba color, std::span<Rgba> out);

// A level over time into texel rows from top to bottom, all as wide as there are columns: an area
// under the lowest level, a lighter one up to the highest, and a line of `line` texels at the
// highest. `scale_top` is the level at the top; levels above it are held there. Rows start clear.
void PaintLevels(std::span<const timeline::LevelColumn> columns, int64_t scale_top, uint32_t line,
                 const RowStyle& style, std::span<const std::span<Rgba>> rows);
// Only the line.
void PaintLevelLine(std::span<const timeline::LevelColumn> columns, int64_t scale_top,
                    uint32_t line, Rgba color, std::span<const std::span<Rgba>> rows);

}  // namespace nanolane::desktop
