#include "clients/desktop/render/row_pixels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nanolane::desktop {

uint32_t DensityAlpha(const timeline::PixelColumn& column, int64_t extent_ns) {
  if (!column.present) return 0;
  if (extent_ns <= 0) return column.edge_covered ? 255 : 0;
  if (column.covered_ns >= extent_ns) return 255;
  if (extent_ns < std::numeric_limits<int64_t>::max() / 256) {
    return static_cast<uint32_t>((column.covered_ns * 255 + extent_ns / 2) / extent_ns);
  }
  __extension__ using Wide = __int128;
  const Wide scaled = static_cast<Wide>(column.covered_ns) * 255 + extent_ns / 2;
  return static_cast<uint32_t>(std::min<Wide>(scaled / extent_ns, 255));
}

void PaintLeaves(std::span<const timeline::PixelColumn> columns, Rgba color, std::span<Rgba> out) {
  for (size_t i = 0; i < columns.size(); ++i) {
    out[i] = columns[i].present ? WithAlpha(color, 255) : 0;
  }
}

void PaintDensity(std::span<const timeline::PixelColumn> columns, const timeline::Window& window,
                  const RowStyle& style, const DensityPaint& paint, std::span<Rgba> out) {
  const auto width = static_cast<uint32_t>(columns.size());
  timeline::EdgeWalker edges(window, width);
  int64_t left = edges.Next();
  for (uint32_t i = 0; i < width; ++i) {
    const int64_t right = edges.Next();
    const timeline::PixelColumn& column = columns[i];
    uint32_t alpha = DensityAlpha(column, right - left);
    if (column.present) alpha = std::max(alpha, paint.least);
    alpha = (alpha * paint.full + 127) / 255;
    const auto category = static_cast<size_t>(column.dominant);
    out[i] = alpha == 0 ? 0 : WithAlpha(style.category[category], alpha);
    left = right;
  }
}

void PaintHidden(std::span<const timeline::PixelColumn> all,
                 std::span<const timeline::PixelColumn> shown, Rgba color, std::span<Rgba> out) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].present && !shown[i].present) out[i] = color;
  }
}

namespace {

// Texels that a level reaches, of `height`; what is not nothing reaches one.
uint32_t Reach(int64_t level, int64_t scale_top, uint32_t height) {
  if (level <= 0 || scale_top <= 0) return 0;
  const double share = static_cast<double>(level) / static_cast<double>(scale_top);
  const double texels = std::ceil(share * height);
  return static_cast<uint32_t>(std::clamp(texels, 1.0, static_cast<double>(height)));
}

}  // namespace

void PaintLevels(std::span<const timeline::LevelColumn> columns, int64_t scale_top, uint32_t line,
                 const RowStyle& style, std::span<const std::span<Rgba>> rows) {
  const auto height = static_cast<uint32_t>(rows.size());
  for (size_t x = 0; x < columns.size(); ++x) {
    if (!columns[x].known) continue;
    const uint32_t low = Reach(columns[x].lowest, scale_top, height);
    const uint32_t high = Reach(columns[x].highest, scale_top, height);
    for (uint32_t reach = 1; reach <= high; ++reach) {
      Rgba& texel = rows[height - reach][x];
      if (reach + line > high) {
        texel = WithAlpha(style.memory_line, 255);
      } else {
        texel = WithAlpha(style.memory_line, reach <= low ? style.memory_fill : style.memory_range);
      }
    }
  }
}

void PaintLevelLine(std::span<const timeline::LevelColumn> columns, int64_t scale_top,
                    uint32_t line, Rgba color, std::span<const std::span<Rgba>> rows) {
  const auto height = static_cast<uint32_t>(rows.size());
  for (size_t x = 0; x < columns.size(); ++x) {
    if (!columns[x].known) continue;
    const uint32_t high = Reach(columns[x].highest, scale_top, height);
    const uint32_t low = std::min(Reach(columns[x].lowest, scale_top, height), high);
    const uint32_t from = std::min(low, high > line ? high - line : 0);
    for (uint32_t reach = from + 1; reach <= high; ++reach) rows[height - reach][x] = color;
  }
}

}  // namespace nanolane::desktop
