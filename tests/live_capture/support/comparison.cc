#include "tests/live_capture/support/comparison.h"

#include <absl/strings/str_join.h>

#include <algorithm>

#include "libs/base/str_cat.h"
#include "tests/live_capture/support/comparison_parts.h"

namespace nanolane::testing {
namespace {

constexpr size_t kMostProblems = 25;

Place PlaceIn(const Deed& deed, int64_t on_ns, int64_t off_ns) {
  if (deed.before_ns >= off_ns) return Place::kOutside;
  if (deed.after_ns < on_ns) return Place::kEarly;
  return deed.before_ns >= on_ns && deed.after_ns <= off_ns ? Place::kInside : Place::kEdge;
}

void Sort(Comparison& comparison) {
  for (const RecordedEvent& recorded : comparison.session.events) {
    const uint64_t correlation = recorded.event.correlation;
    switch (recorded.op->op.kind) {
      case trace::EventKind::kKernel:
      case trace::EventKind::kMemcpy:
      case trace::EventKind::kMemset: comparison.work.emplace(correlation, &recorded); break;
      case trace::EventKind::kSync: comparison.waits.emplace(correlation, &recorded); break;
      case trace::EventKind::kMemory: comparison.changes.emplace(correlation, &recorded); break;
      case trace::EventKind::kNvtx: comparison.ranges.push_back(&recorded); break;
      default:
        comparison.problems.push_back("an event of no known kind: " + Describe(recorded));
        break;
    }
  }
}

void ReportUnexplained(Comparison& comparison) {
  const auto report = [&](const RecordedEvent& recorded) {
    comparison.problems.push_back("no call explains " + Describe(recorded));
  };
  for (const auto* events : {&comparison.work, &comparison.waits, &comparison.changes}) {
    for (const auto& [correlation, recorded] : *events) report(*recorded);
  }
  for (const RecordedEvent* recorded : comparison.ranges) report(*recorded);
}

}  // namespace

Place Comparison::PlaceOf(const Deed& deed) const { return PlaceIn(deed, on_ns, off_ns); }

bool Comparison::Wants(trace::EventKind kind) const {
  return options.kinds.empty() ||
         std::find(options.kinds.begin(), options.kinds.end(), kind) != options.kinds.end();
}

void Comparison::Check(bool holds, const Deed& deed, const std::string& what) {
  if (!holds) problems.push_back(base::StrCat(what, ", of ", Describe(deed)));
}

std::string Describe(const Deed& deed) {
  return base::StrCat(deed.call, " \"", deed.name, "\" #", deed.correlation, " of thread ",
                      deed.thread, ", ", deed.before_ns, "..", deed.after_ns, ", stream ",
                      deed.stream);
}

std::string Describe(const RecordedEvent& recorded) {
  return base::StrCat(trace::ToString(recorded.op->op.kind), " \"", recorded.op->name, "\" #",
                      recorded.event.correlation, " of thread ", recorded.event.thread, " in ",
                      trace::LaneLabel(*recorded.lane), ", ", recorded.event.start_ns, " for ",
                      recorded.event.duration_ns, ", launched ", recorded.event.launch_start_ns,
                      ", bytes ", recorded.event.bytes);
}

std::string Compare(const std::vector<Deed>& deeds, const RecordedSession& session,
                    const ComparisonOptions& options) {
  if (session.Label("capture.on_ns").empty() || session.Label("capture.off_ns").empty()) {
    return "the session does not say when it began and ended";
  }
  Comparison comparison = {.deeds = deeds,
                           .session = session,
                           .options = options,
                           .on_ns = session.on_ns(),
                           .off_ns = session.off_ns()};
  Sort(comparison);
  CompareDeviceWork(comparison);
  CompareWaits(comparison);
  CompareMemory(comparison);
  CompareRanges(comparison);
  ReportUnexplained(comparison);
  if (comparison.problems.empty()) return "";
  const size_t shown = std::min(comparison.problems.size(), kMostProblems);
  std::string text = base::StrCat(comparison.problems.size(), " problems; on ", comparison.on_ns,
                                  ", off ", comparison.off_ns, "\n");
  for (size_t i = 0; i < shown; ++i) text += comparison.problems[i] + "\n";
  return text;
}

size_t CountInside(const std::vector<Deed>& deeds, const RecordedSession& session,
                   const std::string& call) {
  size_t count = 0;
  for (const Deed& deed : deeds) {
    if (deed.call != call) continue;
    if (PlaceIn(deed, session.on_ns(), session.off_ns()) == Place::kInside) ++count;
  }
  return count;
}

}  // namespace nanolane::testing
