// When the GPUs of a window are busy: the union of what their streams run, and the longest time in
// which none of them runs anything. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

// When no stream of a GPU runs anything.
struct Gap {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  size_t lane = 0;  // a stream lane of that GPU

  int64_t length() const { return end_ns - start_ns; }
};

struct BusySummary {
  double share = 0;                // of the window, mean over GPUs
  std::optional<Gap> largest_gap;  // between events that lie in the window
};

class BusyRuns {
 public:
  void Begin(const timeline::Window& window);
  // One span of a stream lane that overlaps the window. In order of time within a lane, mostly:
  // spans that touch or overlap the lane's last run join it.
  void Add(size_t lane, int64_t start_ns, int64_t end_ns);
  // O(runs), and sorting where spans came out of order.
  BusySummary Summarize(const TimelineModel& model);

 private:
  struct Run {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
  };
  struct LaneRuns {
    size_t lane = 0;
    std::vector<Run> runs;
    bool sorted = true;
  };

  timeline::Window window_;
  std::vector<LaneRuns> lanes_;
};

}  // namespace nanolane::desktop
