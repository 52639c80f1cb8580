#include "clients/desktop/model/view_stats.h"

#include <algorithm>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

bool IsStream(const LaneModel& lane) { return lane.facts.lane.kind == trace::LaneKind::kStream; }

// Nearest rank: the smallest value that at least `percent` % of the values reach.
int64_t Percentile(std::vector<int64_t>& values, size_t percent) {
  if (values.empty()) return 0;
  const size_t rank = (values.size() * percent + 99) / 100;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

bool ViewStats::Work(const TimelineModel& model, const Question& question, size_t most_events) {
  if (!asked_ || !(question == question_)) Begin(model, question);
  if (totals_.size() < model.names().size()) totals_.resize(model.names().size());
  while (working_ && most_events > 0) {
    if (lane_ == model.lanes().size()) {
      Finish(model);
      break;
    }
    const LaneModel& lane = *model.lanes()[lane_];
    const bool wanted = IsStream(lane) || question_.lane == lane_;
    const size_t to =
        wanted ? std::min(lane.events.size(), event_ + most_events) : lane.events.size();
    if (wanted) {
      Count(lane, lane_, event_, to);
      most_events -= to - event_;
    }
    event_ = to;
    if (event_ == lane.events.size()) {
      ++lane_;
      event_ = 0;
    }
  }
  return !working_;
}

void ViewStats::Begin(const TimelineModel& model, const Question& question) {
  question_ = question;
  asked_ = working_ = true;
  lane_ = event_ = 0;
  totals_.assign(model.names().size(), {});
  points_.clear();
  op_ = {.name = question.op, .points = {}};
  runs_.Begin(question.window);
}

void ViewStats::Count(const LaneModel& lane, size_t lane_index, size_t from, size_t to) {
  const timeline::Window& window = question_.window;
  for (size_t i = from; i < to; ++i) {
    const int64_t start = lane.events.start_ns(i);
    const int64_t end = lane.events.end_ns(i);
    const bool inside =
        start < window.end_ns && (end > window.start_ns || start >= window.start_ns);
    if (!inside) continue;
    const int64_t clipped =
        std::max<int64_t>(0, std::min(end, window.end_ns) - std::max(start, window.start_ns));
    const NameId name = lane.events.name(i);
    if (IsStream(lane)) {
      runs_.Add(lane_index, start, end);
      OpTotal& total = totals_[name];
      total.name = name;
      total.category = lane.events.category(i);
      ++total.count;
      total.clipped_ns += clipped;
    }
    if (name != question_.op || name == 0) continue;
    ++op_.count;
    op_.clipped_ns += clipped;
    op_.total_ns += end - start;
    if (question_.lane == lane_index) op_.lane_clipped_ns += clipped;
    points_.push_back({start, end - start});
  }
}

void ViewStats::Finish(const TimelineModel& model) {
  working_ = false;
  const BusySummary busy = runs_.Summarize(model);
  answer_ = {.window = question_.window,
             .busy_share = busy.share,
             .largest_gap = busy.largest_gap,
             .ops = {},
             .ops_clipped_ns = 0,
             .op = std::nullopt};
  for (const OpTotal& total : totals_) {
    if (total.count == 0) continue;
    answer_.ops.push_back(total);
    answer_.ops_clipped_ns += total.clipped_ns;
  }
  std::sort(answer_.ops.begin(), answer_.ops.end(), [](const OpTotal& a, const OpTotal& b) {
    return a.clipped_ns != b.clipped_ns ? a.clipped_ns > b.clipped_ns : a.name < b.name;
  });
  if (question_.op != 0 && question_.lane.has_value()) FinishOp(model);
}

void ViewStats::FinishOp(const TimelineModel& model) {
  op_.lane_busy_ns = model.lanes()[*question_.lane]->rows.Covered(0, question_.window);
  std::vector<int64_t> durations;
  durations.reserve(points_.size());
  for (const DurationPoint& point : points_) durations.push_back(point.duration_ns);
  if (!durations.empty()) {
    const auto [least, most] = std::minmax_element(durations.begin(), durations.end());
    op_.min_ns = *least;
    op_.max_ns = *most;
  }
  op_.p50_ns = Percentile(durations, 50);
  op_.p95_ns = Percentile(durations, 95);
  std::sort(points_.begin(), points_.end(),
            [](const DurationPoint& a, const DurationPoint& b) { return a.start_ns < b.start_ns; });
  const size_t stride = points_.size() / kMostPoints + 1;
  for (size_t i = 0; i < points_.size(); i += stride) op_.points.push_back(points_[i]);
  answer_.op = std::move(op_);
}

}  // namespace nanolane::desktop
