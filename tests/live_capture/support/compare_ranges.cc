// NVTX ranges and marks: what each thread pushed and popped, by domain.
#include <algorithm>
#include <map>
#include <utility>

#include "libs/base/str_cat.h"
#include "tests/live_capture/support/comparison_parts.h"

namespace nanolane::testing {
namespace {

// One that should be there. Times lie between the two of each pair.
struct Range {
  const Deed* begin = nullptr;  // null: before the capture
  const Deed* end = nullptr;    // null: after it
  bool may_be_missing = false;
  bool is_mark = false;
};

struct OpenRanges {
  Comparison& comparison;
  std::vector<Range> ranges;

  void Add(const Deed* begin, const Deed* end, bool is_mark = false) {
    const Place from = begin == nullptr ? Place::kEarly : comparison.PlaceOf(*begin);
    const Place to = end == nullptr ? Place::kOutside : comparison.PlaceOf(*end);
    if (from == Place::kOutside) return;
    // What lies around the capture as a whole is seen at neither end.
    const bool may_be_missing =
        (from != Place::kInside && to != Place::kInside) || (is_mark && from != Place::kInside);
    ranges.push_back({.begin = begin,
                      .end = to == Place::kOutside ? nullptr : end,
                      .may_be_missing = may_be_missing,
                      .is_mark = is_mark});
  }
};

std::vector<Range> ExpectedRanges(Comparison& comparison) {
  OpenRanges open{comparison, {}};
  std::map<std::pair<uint64_t, std::string>, std::vector<const Deed*>> stacks;
  // Scripts have one range of the process open at a time in a thread.
  std::map<uint64_t, const Deed*> started;
  std::vector<const Deed*> in_order;
  for (const Deed& deed : comparison.deeds) in_order.push_back(&deed);
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const Deed* a, const Deed* b) { return a->before_ns < b->before_ns; });
  for (const Deed* deed : in_order) {
    auto& stack = stacks[{deed->thread, deed->domain}];
    if (deed->call == "nvtx-push") stack.push_back(deed);
    if (deed->call == "nvtx-mark") open.Add(deed, deed, /*is_mark=*/true);
    if (deed->call == "nvtx-pop" && !stack.empty()) {
      open.Add(stack.back(), deed);
      stack.pop_back();
    }
    if (deed->call == "nvtx-start") started[deed->thread] = deed;
    if (deed->call == "nvtx-end" && started[deed->thread] != nullptr) {
      open.Add(std::exchange(started[deed->thread], nullptr), deed);
    }
  }
  for (const auto& [thread, deed] : started) {
    if (deed != nullptr) open.Add(deed, nullptr);
  }
  for (const auto& [key, stack] : stacks) {
    for (const Deed* deed : stack) open.Add(deed, nullptr);
  }
  return open.ranges;
}

bool Within(int64_t time_ns, const Deed& deed) {
  return time_ns >= deed.before_ns && time_ns <= deed.after_ns;
}

std::string ExtentOf(const RecordedEvent& recorded) {
  const auto found = recorded.op->attributes.find("extent");
  return found == recorded.op->attributes.end() ? "" : found->second;
}

bool Fits(const Comparison& comparison, const Range& range, const RecordedEvent& recorded) {
  const trace::Event& event = recorded.event;
  const int64_t end_ns = event.start_ns + event.duration_ns;
  const std::string extent = ExtentOf(recorded);
  const Deed& known = *range.begin;
  if (recorded.lane->kind != trace::LaneKind::kNvtxThread) return false;
  if (recorded.lane->thread != known.thread || recorded.lane->domain != known.domain) return false;
  if (range.is_mark) {
    return event.duration_ns == 0 && Within(event.start_ns, known) &&
           recorded.op->name == known.name;
  }
  const Place begun = comparison.PlaceOf(known);
  const bool starts_inside = recorded.op->name == known.name && Within(event.start_ns, known) &&
                             extent != "began before the capture";
  const bool began_before = extent == "began before the capture" && begun != Place::kInside &&
                            event.start_ns <= comparison.on_ns;
  const Place ended = range.end == nullptr ? Place::kOutside : comparison.PlaceOf(*range.end);
  const bool ends_inside =
      range.end != nullptr && Within(end_ns, *range.end) && extent != "open when the capture ended";
  const bool is_open = extent == "open when the capture ended" && ended != Place::kInside &&
                       end_ns == comparison.off_ns;
  return (starts_inside || began_before) && (ends_inside || is_open);
}

}  // namespace

void CompareRanges(Comparison& comparison) {
  if (!comparison.Wants(trace::EventKind::kNvtx)) return;
  std::multimap<std::pair<uint64_t, std::string>, const RecordedEvent*> by_thread;
  for (const RecordedEvent* recorded : comparison.ranges) {
    by_thread.emplace(std::pair(recorded->lane->thread, recorded->lane->domain), recorded);
  }
  for (const Range& range : ExpectedRanges(comparison)) {
    const auto [begin, end] = by_thread.equal_range({range.begin->thread, range.begin->domain});
    const auto found = std::find_if(
        begin, end, [&](const auto& entry) { return Fits(comparison, range, *entry.second); });
    if (found != end) {
      by_thread.erase(found);
      continue;
    }
    comparison.Check(range.may_be_missing, *range.begin,
                     base::StrCat("no such range",
                                  range.end == nullptr ? "" : ", until " + Describe(*range.end)));
  }
  comparison.ranges.clear();
  for (const auto& [thread, recorded] : by_thread) comparison.ranges.push_back(recorded);
}

}  // namespace nanolane::testing
