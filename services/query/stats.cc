#include "services/query/stats.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "libs/trace/model.h"
#include "libs/trace/wire.h"
#include "services/query/lanes.h"
#include "services/query/session_events.h"

namespace nanolane::query {
namespace {

// Length of the union of spans that come mostly in order.
class UnionLength {
 public:
  void Add(int64_t start, int64_t end) {
    if (!runs_.empty() && start >= runs_.back().first && start <= runs_.back().second) {
      runs_.back().second = std::max(runs_.back().second, end);
      return;
    }
    ordered_ = ordered_ && (runs_.empty() || start >= runs_.back().first);
    runs_.emplace_back(start, end);
  }

  int64_t Total() {
    if (!ordered_) std::sort(runs_.begin(), runs_.end());
    int64_t total = 0;
    int64_t covered_to = std::numeric_limits<int64_t>::min();
    for (const auto& [start, end] : runs_) {
      const int64_t from = std::max(start, covered_to);
      if (end > from) {
        total += end - from;
        covered_to = end;
      }
    }
    return total;
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> runs_;
  bool ordered_ = true;
};

struct LaneTotals {
  uint64_t events = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  UnionLength busy;
};

using OpKey = std::pair<std::string, trace::EventKind>;

// The value that at least `percent` of the sorted durations do not exceed (nearest rank).
int64_t NearestRank(const std::vector<int64_t>& sorted, size_t percent) {
  const size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

v1::OpStats Summarize(const OpKey& key, std::vector<int64_t> durations) {
  std::sort(durations.begin(), durations.end());
  __extension__ __int128 total = 0;
  for (const int64_t duration : durations) total += duration;
  v1::OpStats stats;
  stats.set_name(key.first);
  stats.set_kind(trace::ToProto(key.second));
  stats.set_count(durations.size());
  stats.set_total_ns(static_cast<int64_t>(total));
  stats.set_mean_ns(static_cast<int64_t>(total / static_cast<int64_t>(durations.size())));
  stats.set_min_ns(durations.front());
  stats.set_p50_ns(NearestRank(durations, 50));
  stats.set_p95_ns(NearestRank(durations, 95));
  stats.set_max_ns(durations.back());
  return stats;
}

// Gathers the totals of a window.
class StatsBuilder {
 public:
  explicit StatsBuilder(const TimeRange& window) : window_(window) {}

  absl::Status Add(const DecodedBlock& block) {
    LaneTotals& lane = lanes_[block.lane_id];
    const trace::EventColumns& events = *block.events;
    for (size_t i = 0; i < events.size(); ++i) {
      const int64_t start = events.start_ns[i];
      const int64_t duration = events.duration_ns[i];
      if (!Overlaps(start, duration, &window_)) continue;
      const int64_t end = trace::EndOf(start, duration);
      lane.first_ns = lane.events == 0 ? start : std::min(lane.first_ns, start);
      lane.last_ns = lane.events == 0 ? end : std::max(lane.last_ns, end);
      ++lane.events;
      lane.busy.Add(std::max<int64_t>(start, window_.start_ns()),
                    std::min<int64_t>(end, window_.end_ns()));
      DurationsOf(block, events.op[i]).push_back(duration);
    }
    events_ += events.size();
    if (events_ <= kMaxStatsEvents) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        base::StrCat("the window holds more than ", kMaxStatsEvents,
                     " events; ask for a shorter one with --range"));
  }

  v1::GetStatsResponse Finish(const std::vector<v1::LaneInfo>& lanes) {
    v1::GetStatsResponse response;
    *response.mutable_window() = window_;
    for (const v1::LaneInfo& info : lanes) {
      LaneTotals& totals = lanes_[info.lane_id()];
      v1::LaneStats& stats = *response.add_lanes();
      *stats.mutable_lane() = info;
      stats.set_events(totals.events);
      stats.set_busy_ns(totals.busy.Total());
      stats.set_first_ns(totals.first_ns);
      stats.set_last_ns(totals.last_ns);
    }
    for (auto& [key, durations] : durations_) {
      *response.add_ops() = Summarize(key, std::move(durations));
    }
    std::sort(response.mutable_ops()->begin(), response.mutable_ops()->end(),
              [](const v1::OpStats& a, const v1::OpStats& b) {
                return std::make_tuple(-a.total_ns(), a.name()) <
                       std::make_tuple(-b.total_ns(), b.name());
              });
    return response;
  }

 private:
  // Names repeat: looked up once per epoch and op, not per event.
  std::vector<int64_t>& DurationsOf(const DecodedBlock& block, trace::OpId op) {
    std::vector<int64_t>*& known = by_op_[{block.epoch, op}];
    if (known == nullptr) {
      known = &durations_[{block.names->OpName(op), block.names->OpOf(op).kind}];
    }
    return *known;
  }

  const TimeRange window_;
  uint64_t events_ = 0;
  std::map<uint32_t, LaneTotals> lanes_;
  std::map<OpKey, std::vector<int64_t>> durations_;
  absl::flat_hash_map<std::pair<uint64_t, trace::OpId>, std::vector<int64_t>*> by_op_;
};

}  // namespace

absl::StatusOr<v1::GetStatsResponse> GetStats(const v1::GetStatsRequest& request,
                                              StoreReader& store,
                                              const std::function<bool()>& stop) {
  ASSIGN_OR_RETURN(const SessionSummary summary, store.GetSession(request.session_id()));
  ASSIGN_OR_RETURN(const std::vector<v1::LaneInfo> lanes, LanesOf(request.session_id(), store));
  TimeRange window;
  if (request.has_window()) {
    window = request.window();
  } else {
    window.set_start_ns(summary.start_ns());
    // Exclusive: one beyond the last event's end, so that an instant there is inside.
    window.set_end_ns(trace::EndOf(summary.end_ns(), 1));
  }
  if (window.end_ns() <= window.start_ns()) {
    return absl::InvalidArgumentError("the window is empty: its end must be after its start");
  }
  StatsBuilder builder(window);
  RETURN_IF_ERROR(VisitEvents(request.session_id(), &window, store, stop,
                              [&](const DecodedBlock& block) { return builder.Add(block); }));
  return builder.Finish(lanes);
}

}  // namespace nanolane::query
