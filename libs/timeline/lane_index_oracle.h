// The definition of what LaneIndex answers, as plain loops over the events. For tests and as the
// baseline of benchmarks; nothing here is shared with the index but the column edges.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "libs/timeline/columns.h"
#include "libs/timeline/lane_index.h"

namespace nanolane::timeline {

class LaneOracle {
 public:
  void Append(const SpanBatch& batch) {
    for (size_t i = 0; i < batch.start_ns.size(); ++i) {
      const int64_t start = batch.start_ns[i];
      const Wide end = Wide{start} + std::max<int64_t>(batch.duration_ns[i], 0);
      events_.push_back(
          {start, static_cast<int64_t>(std::min<Wide>(end, std::numeric_limits<int64_t>::max())),
           batch.category[i]});
    }
  }

  size_t size() const { return events_.size(); }

  int64_t Covered(int64_t from_ns, int64_t to_ns) const {
    Wide covered = 0;
    for (const Interval& run : Union({from_ns, to_ns})) covered += run.end - run.start;
    return Saturated(covered);
  }

  size_t Count(const Window& window) const {
    return static_cast<size_t>(
        std::count_if(events_.begin(), events_.end(),
                      [&](const Event& event) { return Overlaps(event, window); }));
  }

  // As DominantName() with the indices' names; nothing where there are no events.
  std::optional<uint32_t> DominantName(const Window& window,
                                       const std::vector<uint32_t>& names) const {
    std::map<uint32_t, Wide> lengths;
    for (size_t i = 0; i < events_.size(); ++i) {
      if (!Overlaps(events_[i], window)) continue;
      const Wide clipped = Wide{std::min(events_[i].end, window.end_ns)} -
                           std::max(events_[i].start, window.start_ns);
      lengths[names[i]] += Saturated(clipped);
    }
    std::optional<uint32_t> best;
    for (const auto& [name, length] : lengths) {
      if (!best || length > lengths[*best]) best = name;
    }
    return best;
  }

  std::vector<PixelColumn> Columns(const Window& window, uint32_t width) const {
    std::vector<PixelColumn> columns(width);
    if (window.end_ns <= window.start_ns) return columns;
    std::vector<int64_t> edges;
    for (uint32_t i = 0; i <= width; ++i) edges.push_back(ColumnEdge(window, width, i));
    std::vector<Tally> tallies(width);
    for (const Event& event : events_) {
      if (event.start < window.end_ns && event.end >= window.start_ns) {
        Count(event, edges, columns, tallies);
      }
    }
    AddCoverage(window, edges, columns);
    for (uint32_t i = 0; i < width; ++i) columns[i].dominant = tallies[i].Dominant();
    return columns;
  }

  std::optional<size_t> EventAt(int64_t time_ns, int64_t slop_ns) const {
    std::optional<size_t> best;
    Wide best_distance = 0;
    bool best_runs = false;
    for (size_t i = 0; i < events_.size(); ++i) {
      const Event& e = events_[i];
      const bool runs =
          e.start <= time_ns && (time_ns < e.end || (e.instant() && e.end == time_ns));
      const Wide distance = runs                ? 0
                            : e.start > time_ns ? Wide{e.start} - time_ns
                                                : Wide{time_ns} - e.end;
      if (!runs && distance > slop_ns) continue;
      if (best) {
        const Event& other = events_[*best];
        if (best_runs != runs           ? best_runs
            : distance != best_distance ? distance > best_distance
            : e.start != other.start    ? e.start < other.start
                                        : e.end > other.end) {
          continue;
        }
      }
      best = i;
      best_distance = distance;
      best_runs = runs;
    }
    return best;
  }

 private:
  struct Event {
    int64_t start;
    int64_t end;
    trace::Category category;
    bool instant() const { return start == end; }
  };

  struct Interval {
    Wide start;
    Wide end;
  };

  // What decides a column's dominant category.
  struct Tally {
    std::array<Wide, trace::kCategoryCount> length = {};
    uint32_t present = 0;  // bit per category

    trace::Category Dominant() const {
      if (present == 0) return trace::Category::kOtherKernel;
      int best = -1;
      for (int i = 0; i < trace::kCategoryCount; ++i) {
        if ((present >> i & 1U) == 0) continue;
        if (best < 0 || length[static_cast<size_t>(i)] > length[static_cast<size_t>(best)])
          best = i;
      }
      return static_cast<trace::Category>(best);
    }
  };

  static bool Overlaps(const Event& event, const Window& window) {
    if (window.end_ns <= window.start_ns) return false;
    const bool starts_inside = window.start_ns <= event.start && event.start < window.end_ns;
    const bool runs_at_start = event.start < window.start_ns && window.start_ns < event.end;
    return starts_inside || runs_at_start;
  }

  static int64_t Saturated(Wide value) {
    return static_cast<int64_t>(std::min<Wide>(value, std::numeric_limits<int64_t>::max()));
  }

  // Adds one event to the columns that it touches.
  static void Count(const Event& event, const std::vector<int64_t>& edges,
                    std::vector<PixelColumn>& columns, std::vector<Tally>& tallies) {
    const size_t width = columns.size();
    // The columns whose left edge is at or before the end, from the one before the start on.
    size_t i = static_cast<size_t>(std::lower_bound(edges.begin(), edges.end() - 1, event.start) -
                                   edges.begin());
    if (i > 0) --i;
    for (; i < width && edges[i] <= event.end; ++i) {
      // A column without extent answers for the nanosecond at its left edge.
      const Wide left = edges[i];
      const Wide right = std::max<Wide>(edges[i + 1], left + 1);
      const bool first_of_edge = i == 0 || edges[i - 1] != edges[i];
      const bool starts = first_of_edge && left <= event.start && event.start < right;
      const bool runs_at_edge = event.start <= left && left < event.end;
      if (!starts && !runs_at_edge) continue;
      columns[i].starts += starts ? 1U : 0U;
      columns[i].present = true;
      columns[i].edge_covered |= runs_at_edge && edges[i] == edges[i + 1];
      const Wide clipped = std::min<Wide>(event.end, right) - std::max<Wide>(event.start, left);
      tallies[i].length[static_cast<size_t>(event.category)] += clipped;
      tallies[i].present |= 1U << static_cast<unsigned>(event.category);
    }
  }

  // The union of the spans inside the window, sorted.
  std::vector<Interval> Union(const Window& window) const {
    std::vector<Interval> parts;
    for (const Event& event : events_) {
      const Interval part = {std::max(event.start, window.start_ns),
                             std::min(event.end, window.end_ns)};
      if (part.start < part.end) parts.push_back(part);
    }
    std::sort(parts.begin(), parts.end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
    std::vector<Interval> runs;
    for (const Interval& part : parts) {
      if (!runs.empty() && part.start <= runs.back().end) {
        runs.back().end = std::max(runs.back().end, part.end);
      } else {
        runs.push_back(part);
      }
    }
    return runs;
  }

  void AddCoverage(const Window& window, const std::vector<int64_t>& edges,
                   std::vector<PixelColumn>& columns) const {
    std::vector<Wide> covered(columns.size(), 0);
    size_t i = 0;
    for (const Interval& run : Union(window)) {
      while (i < columns.size() && edges[i + 1] <= run.start) ++i;
      for (size_t j = i; j < columns.size() && edges[j] < run.end; ++j) {
        covered[j] += std::max<Wide>(
            0, std::min<Wide>(run.end, edges[j + 1]) - std::max<Wide>(run.start, edges[j]));
      }
    }
    for (size_t j = 0; j < columns.size(); ++j) columns[j].covered_ns = Saturated(covered[j]);
  }

  std::vector<Event> events_;
};

}  // namespace nanolane::timeline
