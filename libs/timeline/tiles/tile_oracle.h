// The definition of what LaneTiles answers, as plain loops over the events: LaneOracle's, with
// names and the longest event. For tests; nothing here is shared with the tiles but column edges.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "libs/timeline/lane_index_oracle.h"
#include "libs/timeline/tiles/tile_columns.h"

namespace nanolane::timeline {

struct TileEvent {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  uint32_t label = 0;
};

class TileOracle {
 public:
  explicit TileOracle(std::vector<Label> labels) : labels_(std::move(labels)) {}

  void Append(const std::vector<TileEvent>& events) {
    for (const TileEvent& event : events) {
      const Label& label = labels_[event.label];
      lane_.Append({.start_ns = std::span(&event.start_ns, 1),
                    .duration_ns = std::span(&event.duration_ns, 1),
                    .category = std::span(&label.category, 1)});
      const Wide end =
          std::min<Wide>(Wide{event.start_ns} + std::max<int64_t>(event.duration_ns, 0),
                         std::numeric_limits<int64_t>::max());
      events_.push_back({event.start_ns, static_cast<int64_t>(end), event.label});
    }
  }

  const LaneOracle& lane() const { return lane_; }

  std::vector<TileColumn> Columns(const Window& window, uint32_t width) const {
    std::vector<TileColumn> columns(width);
    const std::vector<PixelColumn> pixels = lane_.Columns(window, width);
    std::vector<Tally> tallies(width);
    if (window.end_ns > window.start_ns) {
      std::vector<int64_t> edges;
      for (uint32_t i = 0; i <= width; ++i) edges.push_back(ColumnEdge(window, width, i));
      for (const TileSpan& event : events_) Count(event, edges, tallies);
    }
    for (uint32_t i = 0; i < width; ++i) {
      if (!pixels[i].present) continue;
      const TileSpan& longest = tallies[i].longest;
      columns[i] = {.covered_ns = pixels[i].covered_ns,
                    .starts = pixels[i].starts,
                    .present = true,
                    .edge_covered = pixels[i].edge_covered,
                    .dominant = pixels[i].dominant,
                    .dominant_name = tallies[i].DominantName(),
                    .longest_start_ns = longest.start_ns,
                    .longest_duration_ns = longest.end_ns - longest.start_ns,
                    .longest_label = longest.label};
    }
    return columns;
  }

 private:
  struct Tally {
    std::map<uint32_t, Wide> lengths;  // by name
    TileSpan longest;

    uint32_t DominantName() const {
      return std::max_element(lengths.begin(), lengths.end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; })
          ->first;
    }
  };

  static bool Better(const TileSpan& a, const TileSpan& b) {
    const Wide a_length = Wide{a.end_ns} - a.start_ns;
    const Wide b_length = Wide{b.end_ns} - b.start_ns;
    if (a_length != b_length) return a_length > b_length;
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.label < b.label;
  }

  void Count(const TileSpan& event, const std::vector<int64_t>& edges,
             std::vector<Tally>& tallies) const {
    size_t i = static_cast<size_t>(
        std::lower_bound(edges.begin(), edges.end() - 1, event.start_ns) - edges.begin());
    if (i > 0) --i;
    for (; i < tallies.size() && edges[i] <= event.end_ns; ++i) {
      const Wide left = edges[i];
      const Wide right = std::max<Wide>(edges[i + 1], left + 1);
      const bool first_of_edge = i == 0 || edges[i - 1] != edges[i];
      const bool starts = first_of_edge && left <= event.start_ns && event.start_ns < right;
      const bool runs_at_edge = event.start_ns <= left && left < event.end_ns;
      if (!starts && !runs_at_edge) continue;
      Tally& tally = tallies[i];
      if (tally.lengths.empty() || Better(event, tally.longest)) tally.longest = event;
      tally.lengths[labels_[event.label].name] +=
          std::min<Wide>(event.end_ns, right) - std::max<Wide>(event.start_ns, left);
    }
  }

  std::vector<Label> labels_;
  std::vector<TileSpan> events_;
  LaneOracle lane_;
};

}  // namespace nanolane::timeline
