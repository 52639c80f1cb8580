// Keeps LaneRep::rest: what the first row leaves uncovered of the spans outside it.
#include <algorithm>

#include "libs/timeline/lane_rep.h"

namespace nanolane::timeline {

namespace {

uint64_t Length(int64_t from_ns, int64_t to_ns) {
  return static_cast<uint64_t>(to_ns) - static_cast<uint64_t>(from_ns);
}

// If a span of the row runs at the time, moves the time to the span's end.
bool PassSpan(const DisjointRow& row, int64_t& time_ns) {
  const uint64_t started = row.RankAfter(time_ns);
  if (started == 0) return false;
  const int64_t end_ns = row.At(started - 1).end_ns;
  if (end_ns <= time_ns) return false;
  time_ns = end_ns;
  return true;
}

// The first start after a time, at most `to_ns`.
int64_t NextStart(const DisjointRow& row, int64_t after_ns, int64_t to_ns) {
  const uint64_t started = row.RankAfter(after_ns);
  return started == row.size() ? to_ns : std::min(to_ns, row.At(started).start_ns);
}

}  // namespace

// The first time in [from_ns, to_ns) that neither the first row nor `rest` covers, or to_ns. A few
// steps from span to span, then by halving: O(log n) even if a million spans have to be passed.
int64_t LaneRep::NextUncovered(int64_t from_ns, int64_t to_ns) const {
  int64_t time_ns = from_ns;
  for (int step = 0; step < 4; ++step) {
    if (time_ns >= to_ns) return to_ns;
    if (!PassSpan(rows.front(), time_ns) && !PassSpan(rest, time_ns)) return time_ns;
  }
  const uint64_t before = CoveredBefore(time_ns);
  const auto all_covered_until = [&](int64_t end_ns) {
    return CoveredBefore(end_ns) - before == Length(time_ns, end_ns);
  };
  if (time_ns >= to_ns || all_covered_until(to_ns)) return to_ns;
  int64_t covered_ns = time_ns;  // all is covered until here, and not until `to_ns`
  while (Length(covered_ns, to_ns) > 1) {
    const auto middle_ns =
        static_cast<int64_t>(static_cast<uint64_t>(covered_ns) + Length(covered_ns, to_ns) / 2);
    (all_covered_until(middle_ns) ? covered_ns : to_ns) = middle_ns;
  }
  return covered_ns;
}

// What neither the first row nor `rest` covers of the intervals, which are sorted by start.
std::vector<LaneRep::Interval> LaneRep::Uncovered(const std::vector<Interval>& intervals) const {
  std::vector<Interval> uncovered;
  int64_t done_ns = intervals.front().start_ns;
  for (const Interval& interval : intervals) {
    int64_t time_ns = std::max(done_ns, interval.start_ns);
    while (time_ns < interval.end_ns) {
      const int64_t start_ns = NextUncovered(time_ns, interval.end_ns);
      if (start_ns == interval.end_ns) break;
      time_ns = NextStart(rest, start_ns, NextStart(rows.front(), start_ns, interval.end_ns));
      uncovered.push_back({start_ns, time_ns});
    }
    done_ns = std::max(done_ns, interval.end_ns);
  }
  return uncovered;
}

// Brings `rest` up to date with the batch. Requires the first row to be committed.
void LaneRep::CommitRest() {
  for (const Interval& span : late_in_row_) rest.Cut(span.start_ns, span.end_ns);
  late_in_row_.clear();
  rest.Commit();
  if (outside_row_.empty()) return;
  for (const Interval& part : Uncovered(outside_row_)) rest.Unite(part.start_ns, part.end_ns);
  outside_row_.clear();
  rest.Commit();
}

}  // namespace nanolane::timeline
