#include "clients/desktop/model/launch_link.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/event_steps.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

// Calls of one moment and thread that are compared.
constexpr int kMostCalls = 256;

bool OfGpu(trace::LaneKind kind) {
  return kind == trace::LaneKind::kStream || kind == trace::LaneKind::kStreamSync ||
         kind == trace::LaneKind::kNoStreamSync;
}

// "launched 8.104 µs before by thread 4121; that call has no row"
std::string WithoutRow(const trace::Event& event) {
  const int64_t before = ClampToInt64(static_cast<Wide>(event.start_ns) - event.launch_start_ns);
  return absl::StrCat("launched ", before >= 0 ? ExactTime(before) : ExactTime(-before),
                      before >= 0 ? " before" : " after it started",
                      event.thread == 0 ? "" : absl::StrCat(" by thread ", event.thread),
                      "; calls have no rows in this session");
}

// The call of this lane that began at `time_ns` with this correlation.
std::optional<size_t> CallAt(const LaneModel& lane, int64_t time_ns, uint64_t correlation) {
  for (uint32_t depth = 0; depth < lane.rows.depth(); ++depth) {
    timeline::LaneIndex::EventPlace place{.start_ns = time_ns, .instant = true, .index = -1};
    for (int i = 0; i < kMostCalls; ++i) {
      const std::optional<size_t> call = lane.rows.Neighbour(depth, place, false);
      if (!call.has_value() || lane.events.start_ns(*call) != time_ns) break;
      const absl::StatusOr<FullEvent> full = lane.events.At(*call);
      if (full.ok() && full->event.correlation == correlation) return call;
      place = PlaceOf(lane.events, *call);
    }
  }
  return std::nullopt;
}

}  // namespace

LaunchLink::Answer LaunchLink::LaunchOf(const TimelineModel& model, const EventRef& event) {
  const LaneModel& lane = *model.lanes()[event.lane];
  if (!OfGpu(lane.facts.lane.kind)) return {{}, "nothing launched this: it did not run on a GPU"};
  const absl::StatusOr<FullEvent> full = lane.events.At(event.event);
  if (!full.ok()) return {{}, std::string(full.status().message())};
  const trace::Event& launched = full->event;
  if (launched.launch_start_ns == trace::kNoTime) {
    return {{}, "the call that launched this was not recorded"};
  }
  for (size_t i = 0; i < model.lanes().size(); ++i) {
    const LaneModel& calls = *model.lanes()[i];
    if (calls.facts.lane.kind != trace::LaneKind::kThreadApi ||
        calls.facts.session != lane.facts.session) {
      continue;
    }
    const auto call = CallAt(calls, launched.launch_start_ns, launched.correlation);
    if (!call.has_value()) continue;
    came_from_ = event;
    went_to_ = EventRef{i, *call};
    return {went_to_, ""};
  }
  return {{}, WithoutRow(launched)};
}

void LaunchLink::AskLaunched(const TimelineModel& model, const EventRef& call) {
  working_ = true;
  known_ = {};
  correlation_ = 0;
  lane_ = block_ = 0;
  earliest_.reset();
  if (went_to_ == call) {
    known_.event = came_from_;
    return;
  }
  const LaneModel& lane = *model.lanes()[call.lane];
  session_ = lane.facts.session;
  if (lane.facts.lane.kind != trace::LaneKind::kThreadApi) {
    known_.notice = "this is not a call that launches";
    return;
  }
  const absl::StatusOr<FullEvent> full = lane.events.At(call.event);
  correlation_ = full.ok() ? full->event.correlation : 0;
  if (correlation_ == 0) known_.notice = "this call launched nothing";
}

std::optional<LaunchLink::Answer> LaunchLink::Work(const TimelineModel& model, size_t most_events) {
  if (!working_) return std::nullopt;
  if (known_.event.has_value() || !known_.notice.empty()) {
    working_ = false;
    return std::exchange(known_, {});
  }
  for (size_t looked_at = 0; lane_ < model.lanes().size();) {
    if (looked_at >= most_events) return std::nullopt;
    const LaneModel& lane = *model.lanes()[lane_];
    const bool wanted = OfGpu(lane.facts.lane.kind) && lane.facts.session == session_;
    if (!wanted || block_ >= lane.events.block_count()) {
      ++lane_;
      block_ = 0;
      continue;
    }
    looked_at += LookInBlock(lane.events);
    ++block_;
  }
  working_ = false;
  if (!earliest_.has_value()) return Answer{{}, "nothing that this call launched was recorded"};
  return Answer{earliest_, ""};
}

size_t LaunchLink::LookInBlock(const EventStore& events) {
  const auto block =
      events.Unpack(block_, trace::ColumnSet::Timeline().With(trace::Column::kCorrelation));
  if (!block.ok()) return 1;
  const trace::EventColumns& columns = block->columns;
  for (size_t i = 0; i < columns.correlation.size(); ++i) {
    if (columns.correlation[i] != correlation_) continue;
    if (earliest_.has_value() && columns.start_ns[i] >= earliest_ns_) continue;
    earliest_ = EventRef{lane_, block->first + i};
    earliest_ns_ = columns.start_ns[i];
  }
  return columns.size();
}

}  // namespace nanolane::desktop
