// Figures of the window in sight: which ops take the time, and for the selected op its count,
// total, percentiles and a plot of durations over time.
//
// Counting walks events, so it is done in slices of a frame's time: the figures of the former
// window stay until those of the new one are complete. Events count when they overlap the window;
// their time counts as far as it lies inside, percentiles use whole durations. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "clients/desktop/model/busy_runs.h"
#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

struct OpTotal {
  NameId name = 0;
  trace::Category category = trace::Category::kOtherKernel;
  uint64_t count = 0;
  int64_t clipped_ns = 0;  // inside the window
};

struct DurationPoint {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
};

// The selected op in the window.
struct OpFigures {
  NameId name = 0;
  uint64_t count = 0;
  int64_t total_ns = 0;         // of whole durations
  int64_t clipped_ns = 0;       // inside the window
  int64_t lane_busy_ns = 0;     // of the lane that the selection is on, inside the window
  int64_t lane_clipped_ns = 0;  // of the op on that lane, inside the window
  int64_t p50_ns = 0;           // nearest rank
  int64_t p95_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  std::vector<DurationPoint> points;  // at most kMostPoints, evenly picked, in order of time
};

struct ViewFigures {
  timeline::Window window;
  double busy_share = 0;           // of the window, union over a GPU's streams, mean over GPUs
  std::optional<Gap> largest_gap;  // between events that lie in the window
  std::vector<OpTotal> ops;        // of stream lanes, largest first
  int64_t ops_clipped_ns = 0;      // of all of them
  std::optional<OpFigures> op;
};

class ViewStats {
 public:
  static constexpr size_t kMostPoints = 400;

  struct Question {
    timeline::Window window;
    std::optional<size_t> lane;  // of the selection
    NameId op = 0;
    uint64_t model_version = 0;

    bool operator==(const Question& other) const {
      return window.start_ns == other.window.start_ns && window.end_ns == other.window.end_ns &&
             lane == other.lane && op == other.op && model_version == other.model_version;
    }
  };

  // Works on `question` for up to `most_events` events. True: figures() answers it.
  bool Work(const TimelineModel& model, const Question& question, size_t most_events);

  // The last complete answer.
  const ViewFigures& figures() const { return answer_; }
  bool working() const { return working_; }

 private:
  void Begin(const TimelineModel& model, const Question& question);
  void Count(const LaneModel& lane, size_t lane_index, size_t from, size_t to);
  void Finish(const TimelineModel& model);
  void FinishOp(const TimelineModel& model);

  Question question_;
  bool asked_ = false;
  bool working_ = false;
  size_t lane_ = 0;
  size_t event_ = 0;
  std::vector<OpTotal> totals_;  // by name
  std::vector<DurationPoint> points_;
  OpFigures op_;
  BusyRuns runs_;
  ViewFigures answer_;
};

}  // namespace nanolane::desktop
