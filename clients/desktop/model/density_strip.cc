#include "clients/desktop/model/density_strip.h"

#include <algorithm>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

struct Reach {
  Wide from = 0;
  Wide to = 0;
};

Reach ReachOf(const DensityLayer& layer, const DensityBin& bin) {
  const Wide width = Wide{1} << layer.level;
  return {bin.index * width, bin.index * width + width};
}

// The bins of `layer` that overlap the window.
std::pair<std::vector<DensityBin>::const_iterator, std::vector<DensityBin>::const_iterator>
Overlapping(const DensityLayer& layer, const timeline::Window& window) {
  const Wide width = Wide{1} << layer.level;
  const auto first = std::partition_point(
      layer.bins.begin(), layer.bins.end(),
      [&](const DensityBin& bin) { return bin.index * width + width <= window.start_ns; });
  const auto last = std::partition_point(first, layer.bins.end(), [&](const DensityBin& bin) {
    return bin.index * width < window.end_ns;
  });
  return {first, last};
}

}  // namespace

std::vector<StripColumn> StripColumns(const std::vector<DensityLayer>& layers,
                                      const timeline::Window& window, size_t count) {
  std::vector<StripColumn> columns(count);
  const Wide span = SpanOf(window);
  if (count == 0 || span <= 0) return columns;
  const auto edge = [&](size_t i) -> Wide {
    return window.start_ns + static_cast<Wide>(i) * span / static_cast<Wide>(count);
  };
  for (const DensityLayer& layer : layers) {
    const auto [first, last] = Overlapping(layer, window);
    for (auto bin = first; bin != last; ++bin) {
      const Reach reach = ReachOf(layer, *bin);
      const Wide from = std::max<Wide>(reach.from, window.start_ns);
      // Less by one at most, because edges are rounded down.
      auto column = static_cast<size_t>((from - window.start_ns) * static_cast<Wide>(count) / span);
      while (column + 1 < count && edge(column + 1) <= from) ++column;
      columns[column].events += bin->events;
      columns[column].losses += bin->losses;
      const double rate =
          static_cast<double>(bin->busy_ns) / static_cast<double>(reach.to - reach.from);
      const bool holds = bin->events > 0 || bin->busy_ns > 0;
      for (; column < count && edge(column) < reach.to; ++column) {
        const Wide left = edge(column);
        const Wide right = edge(column + 1);
        const Wide overlap = std::min(right, reach.to) - std::max(left, reach.from);
        if (right > left && overlap > 0) {
          columns[column].busy +=
              rate * static_cast<double>(overlap) / static_cast<double>(right - left);
        }
        columns[column].present = columns[column].present || holds;
      }
    }
  }
  return columns;
}

StripPart StripPartOf(const std::vector<DensityLayer>& layers, const timeline::Window& part) {
  StripPart found{.window = part, .events = 0, .losses = 0};
  for (const DensityLayer& layer : layers) {
    const auto [first, last] = Overlapping(layer, part);
    for (auto bin = first; bin != last; ++bin) {
      const Reach reach = ReachOf(layer, *bin);
      found.window.start_ns = std::min(found.window.start_ns, ClampToInt64(reach.from));
      found.window.end_ns = std::max(found.window.end_ns, ClampToInt64(reach.to));
      found.events += bin->events;
      found.losses += bin->losses;
    }
  }
  return found;
}

}  // namespace nanolane::desktop
