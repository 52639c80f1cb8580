#include "clients/desktop/model/busy_runs.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {

void BusyRuns::Begin(const timeline::Window& window) {
  window_ = window;
  lanes_.clear();
}

void BusyRuns::Add(size_t lane, int64_t start_ns, int64_t end_ns) {
  if (lanes_.empty() || lanes_.back().lane != lane) lanes_.push_back({.lane = lane, .runs = {}});
  LaneRuns& into = lanes_.back();
  start_ns = std::max(start_ns, window_.start_ns);
  end_ns = std::min(end_ns, window_.end_ns);
  if (!into.runs.empty()) {
    Run& last = into.runs.back();
    if (start_ns >= last.start_ns && start_ns <= last.end_ns) {
      last.end_ns = std::max(last.end_ns, end_ns);
      return;
    }
    if (start_ns < last.start_ns) into.sorted = false;
  }
  into.runs.push_back({start_ns, end_ns});
}

BusySummary BusyRuns::Summarize(const TimelineModel& model) {
  const auto by_start = [](const Run& a, const Run& b) { return a.start_ns < b.start_ns; };
  std::map<std::tuple<uint32_t, int32_t, std::string>, LaneRuns> gpus;
  for (LaneRuns& lane : lanes_) {
    if (!lane.sorted) std::stable_sort(lane.runs.begin(), lane.runs.end(), by_start);
    const LaneFacts& facts = model.lanes()[lane.lane]->facts;
    LaneRuns& gpu = gpus[{facts.session, facts.lane.gpu_index, facts.lane.gpu_uuid}];
    gpu.lane = lane.lane;
    std::vector<Run> merged(gpu.runs.size() + lane.runs.size());
    std::merge(gpu.runs.begin(), gpu.runs.end(), lane.runs.begin(), lane.runs.end(), merged.begin(),
               by_start);
    gpu.runs = std::move(merged);
  }
  BusySummary summary;
  const double span = static_cast<double>(SpanOf(window_));
  for (const auto& [key, gpu] : gpus) {
    int64_t busy = 0;
    int64_t reached = gpu.runs.front().start_ns;
    for (const Run& run : gpu.runs) {
      if (run.start_ns > reached) {
        const Gap gap{reached, run.start_ns, gpu.lane};
        const bool largest =
            !summary.largest_gap.has_value() || gap.length() > summary.largest_gap->length();
        if (largest) summary.largest_gap = gap;
      }
      busy += std::max<int64_t>(0, run.end_ns - std::max(reached, run.start_ns));
      reached = std::max(reached, run.end_ns);
    }
    summary.share += static_cast<double>(busy) / span / static_cast<double>(gpus.size());
  }
  return summary;
}

}  // namespace nanolane::desktop
