// Kernels, copies, memsets and graphs.
#include <cxxabi.h>

#include <cstdlib>
#include <set>

#include "libs/base/str_cat.h"
#include "tests/live_capture/support/comparison_parts.h"

namespace nanolane::testing {
namespace {

using trace::EventKind;

std::string Demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string demangled = status == 0 ? text : name;
  std::free(text);
  return demangled;
}

trace::CopyDirection DirectionOf(const std::string& name) {
  if (name == "h2d") return trace::CopyDirection::kHostToDevice;
  if (name == "d2h") return trace::CopyDirection::kDeviceToHost;
  if (name == "d2d") return trace::CopyDirection::kDeviceToDevice;
  if (name == "h2h") return trace::CopyDirection::kHostToHost;
  return trace::CopyDirection::kPeerToPeer;
}

// The kinds of events that the call brings when it succeeds.
std::vector<EventKind> KindsOf(const Comparison& comparison, const Deed& deed) {
  std::vector<EventKind> kinds;
  if (deed.call == "launch") kinds = {EventKind::kKernel};
  if (deed.call == "memcpy") kinds = {EventKind::kMemcpy};
  if (deed.call == "memset") kinds = {EventKind::kMemset};
  if (deed.call == "graph") {
    const auto graph = comparison.options.graphs.find(deed.name);
    if (graph != comparison.options.graphs.end()) kinds = graph->second;
  }
  if (deed.result != 0) kinds.clear();
  std::erase_if(kinds, [&](EventKind kind) { return !comparison.Wants(kind); });
  return kinds;
}

void CheckLaunch(Comparison& comparison, const Deed& deed, const RecordedEvent& recorded) {
  const trace::Event& event = recorded.event;
  const bool has_launch = event.launch_start_ns != trace::kNoTime;
  if (!comparison.options.has_launches) {
    comparison.Check(!has_launch, deed, "a launch that was not asked for");
    return;
  }
  // At the edges the call may not have been seen.
  if (!has_launch && comparison.PlaceOf(deed) != Place::kInside) return;
  comparison.Check(has_launch, deed, "no launch");
  if (!has_launch) return;
  comparison.Check(event.launch_start_ns >= deed.before_ns &&
                       event.launch_start_ns + event.launch_duration_ns <= deed.after_ns,
                   deed, base::StrCat("a launch at another time: ", Describe(recorded)));
  comparison.Check(event.start_ns >= event.launch_start_ns, deed, "a start before its launch");
  comparison.Check(event.thread == deed.thread, deed,
                   base::StrCat("a launch of another thread: ", Describe(recorded)));
}

void CheckWork(Comparison& comparison, const Deed& deed, const RecordedEvent& recorded) {
  const trace::Event& event = recorded.event;
  const trace::Lane& lane = *recorded.lane;
  comparison.Check(lane.kind == trace::LaneKind::kStream && lane.gpu_index == deed.device &&
                       lane.stream == deed.stream,
                   deed, base::StrCat("another lane: ", Describe(recorded)));
  comparison.Check(event.start_ns > deed.before_ns && event.duration_ns >= 0, deed,
                   base::StrCat("another time: ", Describe(recorded)));
  comparison.Check((event.graph_node != 0) == (deed.call == "graph"), deed, "a wrong graph node");
  if (deed.call == "launch") {
    comparison.Check(recorded.op->name == Demangled(deed.name), deed,
                     base::StrCat("another kernel: ", Describe(recorded)));
  } else if (deed.call != "graph") {
    comparison.Check(event.bytes == deed.bytes, deed, "other bytes");
  }
  if (deed.call == "memcpy") {
    comparison.Check(recorded.op->op.copy_direction == DirectionOf(deed.name), deed,
                     "another direction");
  }
  CheckLaunch(comparison, deed, recorded);
}

}  // namespace

void CompareDeviceWork(Comparison& comparison) {
  for (const Deed& deed : comparison.deeds) {
    const bool is_work = deed.call == "launch" || deed.call == "memcpy" || deed.call == "memset" ||
                         deed.call == "graph";
    if (!is_work || deed.count != 1) continue;
    const Place place = comparison.PlaceOf(deed);
    if (place == Place::kOutside || place == Place::kEarly) continue;
    std::multiset<EventKind> missing;
    for (const EventKind kind : KindsOf(comparison, deed)) missing.insert(kind);
    const size_t expected = missing.size();
    std::set<uint64_t> nodes;
    std::set<int64_t> launches;
    const auto [begin, end] = comparison.work.equal_range(deed.correlation);
    for (auto it = begin; it != end; ++it) {
      const RecordedEvent& recorded = *it->second;
      const auto wanted = missing.find(recorded.op->op.kind);
      comparison.Check(wanted != missing.end(), deed,
                       base::StrCat("one event too many: ", Describe(recorded)));
      if (wanted != missing.end()) missing.erase(wanted);
      nodes.insert(recorded.event.graph_node);
      launches.insert(recorded.event.launch_start_ns);
      CheckWork(comparison, deed, recorded);
    }
    const auto found = static_cast<size_t>(std::distance(begin, end));
    comparison.work.erase(begin, end);
    if (deed.call == "graph") {
      comparison.Check(nodes.size() == found, deed, "nodes that are one and the same");
      comparison.Check(launches.size() <= 1, deed, "nodes of several launches");
    }
    const bool may_be_missing = place != Place::kInside || comparison.options.process_ended;
    comparison.Check(missing.empty() || may_be_missing, deed,
                     base::StrCat(missing.size(), " of ", expected, " events are missing"));
  }
}

}  // namespace nanolane::testing
