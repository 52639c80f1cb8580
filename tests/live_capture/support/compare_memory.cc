// Allocations, and the bytes in use after each of them.
#include <map>

#include "libs/base/str_cat.h"
#include "tests/live_capture/support/comparison_parts.h"

namespace nanolane::testing {
namespace {

struct Allocation {
  int64_t bytes;
  int32_t device;
};

void CheckChange(Comparison& comparison, const Deed& deed, const RecordedEvent& recorded,
                 const Allocation& change, int64_t level) {
  const trace::Event& event = recorded.event;
  const trace::Lane& lane = *recorded.lane;
  comparison.Check(lane.kind == trace::LaneKind::kMemoryDriver && lane.gpu_index == change.device,
                   deed, base::StrCat("another lane: ", Describe(recorded)));
  comparison.Check(event.bytes == change.bytes, deed,
                   base::StrCat("other bytes: ", Describe(recorded)));
  comparison.Check(recorded.op->name == (change.bytes < 0 ? "free" : "alloc"), deed,
                   "an op of another name");
  // A clock that is another tool's is off by microseconds.
  constexpr int64_t kClockErrorNs = 50'000;
  comparison.Check(event.start_ns >= deed.before_ns - kClockErrorNs &&
                       event.start_ns <= deed.after_ns + kClockErrorNs,
                   deed, base::StrCat("another time: ", Describe(recorded)));
  comparison.Check(event.address != 0, deed, "no address");
  const bool has_level =
      comparison.options.has_levels && comparison.PlaceOf(deed) == Place::kInside;
  comparison.Check(!has_level || event.level_bytes == level, deed,
                   base::StrCat("level ", event.level_bytes, " and not ", level));
}

}  // namespace

void CompareMemory(Comparison& comparison) {
  if (!comparison.Wants(trace::EventKind::kMemory)) return;
  std::map<std::pair<uint64_t, std::string>, Allocation> allocations;
  std::map<int32_t, int64_t> levels;
  for (const Deed& deed : comparison.deeds) {
    const bool allocates = deed.call == "malloc" || deed.call == "malloc-async";
    if (!allocates && deed.call != "free" && deed.call != "free-async") continue;
    if (deed.result != 0) continue;
    Allocation& allocation = allocations[{deed.thread, deed.name}];
    if (allocates) allocation = {deed.bytes, deed.device};
    const Allocation change = {allocates ? allocation.bytes : -allocation.bytes, allocation.device};
    levels[change.device] += change.bytes;
    const Place place = comparison.PlaceOf(deed);
    if (place == Place::kOutside || place == Place::kEarly) continue;
    const auto [begin, end] = comparison.changes.equal_range(deed.correlation);
    for (auto it = begin; it != end; ++it) {
      CheckChange(comparison, deed, *it->second, change, levels[change.device]);
    }
    const auto found = std::distance(begin, end);
    comparison.changes.erase(begin, end);
    comparison.Check(found == 1 || (found == 0 && place != Place::kInside), deed,
                     base::StrCat(found, " changes recorded"));
  }
}

}  // namespace nanolane::testing
