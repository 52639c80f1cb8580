// Synchronizing calls.
#include <algorithm>
#include <map>

#include "libs/base/str_cat.h"
#include "tests/live_capture/support/comparison_parts.h"

namespace nanolane::testing {
namespace {

using trace::SyncKind;

SyncKind KindOf(const Deed& deed) {
  if (deed.call == "stream-sync") return SyncKind::kStream;
  if (deed.call == "event-sync") return SyncKind::kEvent;
  if (deed.call == "device-sync") return SyncKind::kDevice;
  if (deed.call == "stream-wait-event") return SyncKind::kStreamWaitEvent;
  return SyncKind::kNone;
}

// Where each event was recorded, as far as the capture can know; by thread and name.
using Records = std::map<std::pair<uint64_t, std::string>, const Deed*>;

void CheckLane(Comparison& comparison, const Deed& deed, const RecordedEvent& recorded,
               const Deed* record) {
  const trace::Lane& lane = *recorded.lane;
  const bool is_of_stream = lane.kind == trace::LaneKind::kStreamSync;
  switch (KindOf(deed)) {
    case SyncKind::kDevice:
      comparison.Check(lane.kind == trace::LaneKind::kNoStreamSync && lane.gpu_index == deed.device,
                       deed, base::StrCat("another lane: ", Describe(recorded)));
      return;
    case SyncKind::kEvent:
      if (record == nullptr) return;
      comparison.Check(is_of_stream && lane.stream == record->stream, deed,
                       base::StrCat("not the lane of the event's stream: ", Describe(recorded)));
      return;
    default:
      comparison.Check(is_of_stream && lane.stream == deed.stream && lane.gpu_index == deed.device,
                       deed, base::StrCat("another lane: ", Describe(recorded)));
  }
}

void CheckWait(Comparison& comparison, const Deed& deed, const RecordedEvent& recorded,
               const Deed* record) {
  const trace::Event& event = recorded.event;
  const int64_t end_ns = event.start_ns + event.duration_ns;
  comparison.Check(recorded.op->op.sync_kind == KindOf(deed), deed,
                   base::StrCat("another wait: ", Describe(recorded)));
  comparison.Check(event.start_ns >= deed.before_ns && end_ns <= deed.after_ns, deed,
                   base::StrCat("another time: ", Describe(recorded)));
  comparison.Check(event.thread == deed.thread, deed,
                   base::StrCat("another thread: ", Describe(recorded)));
  CheckLane(comparison, deed, recorded, record);
  if (KindOf(deed) != SyncKind::kStreamWaitEvent) return;
  comparison.Check(event.duration_ns == 0, deed, "a mark that has a length");
  if (record == nullptr) return;
  const auto& attributes = recorded.op->attributes;
  const auto source = attributes.find("recorded on");
  comparison.Check(
      source != attributes.end() && source->second == base::StrCat("Stream ", record->stream), deed,
      "another source of the event");
}

}  // namespace

void CompareWaits(Comparison& comparison) {
  std::vector<const Deed*> in_order;
  for (const Deed& deed : comparison.deeds) in_order.push_back(&deed);
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const Deed* a, const Deed* b) { return a->before_ns < b->before_ns; });
  Records records;
  const bool wanted = comparison.Wants(trace::EventKind::kSync);
  for (const Deed* deed : in_order) {
    const Place place = comparison.PlaceOf(*deed);
    if (deed->call == "event-record") {
      records[{deed->thread, deed->name}] = place == Place::kInside ? deed : nullptr;
      continue;
    }
    if (KindOf(*deed) == SyncKind::kNone || (place == Place::kOutside || place == Place::kEarly) ||
        !wanted)
      continue;
    const auto record = records.find({deed->thread, deed->name});
    const auto [begin, end] = comparison.waits.equal_range(deed->correlation);
    for (auto it = begin; it != end; ++it) {
      CheckWait(comparison, *deed, *it->second, record == records.end() ? nullptr : record->second);
    }
    const auto found = std::distance(begin, end);
    comparison.waits.erase(begin, end);
    comparison.Check(found == 1 || (found == 0 && place != Place::kInside), *deed,
                     base::StrCat(found, " waits recorded"));
  }
}

}  // namespace nanolane::testing
