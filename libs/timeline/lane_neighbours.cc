// The events before and after a place in a lane's order.
#include <algorithm>
#include <tuple>

#include "libs/timeline/lane_rep.h"

namespace nanolane::timeline {

namespace {

using EventPlace = LaneIndex::EventPlace;

// By start, instants first, then by index: the order of each row and of each list of overlaps.
bool Earlier(const EventPlace& a, const EventPlace& b) {
  return std::make_tuple(a.start_ns, !a.instant, a.index) <
         std::make_tuple(b.start_ns, !b.instant, b.index);
}

EventPlace PlaceOf(const RowSpan& span) { return {span.start_ns, span.instant(), span.index}; }
EventPlace PlaceOf(const Edge& edge) {
  return {edge.key_ns, edge.other_ns == edge.key_ns, edge.index};
}

// The first rank in [from, to) whose place is not before `place`; after it, with `beyond`.
template <typename List>
uint64_t Partition(const List& list, uint64_t from, uint64_t to, const EventPlace& place,
                   bool beyond) {
  while (from < to) {
    const uint64_t middle = from + (to - from) / 2;
    const EventPlace at = PlaceOf(list.At(middle));
    const bool before = beyond ? !Earlier(place, at) : Earlier(at, place);
    if (before) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}

uint64_t StartsBefore(const DisjointRow& row, int64_t time_ns) { return row.Locate(time_ns).rank; }
uint64_t StartsBefore(const EdgeList& list, int64_t time_ns) { return list.RankOf(time_ns); }

// The list's event next to `place`, if it is nearer than `best`.
template <typename List>
void Consider(const List& list, const EventPlace& place, bool backwards,
              std::optional<EventPlace>& best) {
  if (list.empty()) return;
  const uint64_t from = StartsBefore(list, place.start_ns);
  const uint64_t to = list.RankAfter(place.start_ns);
  const uint64_t rank = Partition(list, from, to, place, !backwards);
  if (backwards ? rank == 0 : rank == list.size()) return;
  const EventPlace found = PlaceOf(list.At(backwards ? rank - 1 : rank));
  if (best && (backwards ? !Earlier(*best, found) : !Earlier(found, *best))) return;
  best = found;
}

}  // namespace

std::optional<size_t> LaneIndex::Neighbour(const EventPlace& place, bool backwards) const {
  std::optional<EventPlace> best;
  for (const DisjointRow& row : rep_->rows) Consider(row, place, backwards, best);
  Consider(rep_->overlap_starts, place, backwards, best);
  Consider(rep_->overlap_instants, place, backwards, best);
  if (!best) return std::nullopt;
  return static_cast<size_t>(best->index);
}

}  // namespace nanolane::timeline
