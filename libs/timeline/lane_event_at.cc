// Which event of a lane a click or a hover means.
#include <algorithm>
#include <limits>
#include <tuple>

#include "libs/timeline/lane_rep.h"

namespace nanolane::timeline {

namespace {

struct Candidate {
  uint64_t distance = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t index = 0;
};

// Nearer, then later start, then earlier end, then appended later.
bool Better(const Candidate& a, const Candidate& b) {
  return std::tie(a.distance, b.start_ns, a.end_ns, b.index) <
         std::tie(b.distance, a.start_ns, b.end_ns, a.index);
}

class Search {
 public:
  Search(const LaneRep& rep, int64_t time_ns) : rep_(rep), time_ns_(time_ns) {}

  std::optional<size_t> Find(int64_t slop_ns) {
    ConsiderRunning();
    if (best_) return best_->index;
    ConsiderEarlier();
    ConsiderLater();
    if (!best_ || slop_ns < 0 || best_->distance > static_cast<uint64_t>(slop_ns)) {
      return std::nullopt;
    }
    return best_->index;
  }

 private:
  void Consider(uint64_t distance, int64_t start_ns, int64_t end_ns, uint32_t index) {
    const Candidate candidate = {distance, start_ns, end_ns, index};
    if (!best_ || Better(candidate, *best_)) best_ = candidate;
  }

  void ConsiderIfRunning(const RowSpan& span) {
    const bool runs = span.start_ns <= time_ns_ && time_ns_ < span.end_ns;
    const bool instant_now = span.instant() && span.start_ns == time_ns_;
    if (runs || instant_now) Consider(0, span.start_ns, span.end_ns, span.index);
  }

  void ConsiderRunning() {
    for (const DisjointRow& row : rep_.rows) {
      // A span that starts now may hide the instants now that come before it.
      const uint64_t started = row.RankAfter(time_ns_);
      if (started > 0) ConsiderIfRunning(row.At(started - 1));
      if (started > 1) ConsiderIfRunning(row.At(started - 2));
    }
    const uint64_t instants = rep_.overlap_instants.RankAfter(time_ns_);
    if (instants > 0) {
      const Edge instant = rep_.overlap_instants.At(instants - 1);
      if (instant.key_ns == time_ns_) Consider(0, time_ns_, time_ns_, instant.index);
    }
    const EdgeList& starts = rep_.overlap_starts;
    const uint64_t started = starts.RankAfter(time_ns_);
    uint64_t rank = starts.LastRunning(started, time_ns_);
    if (rank == started) return;
    const int64_t start_ns = starts.At(rank).key_ns;
    for (++rank; rank-- > 0;) {
      const Edge edge = starts.At(rank);
      if (edge.key_ns != start_ns) break;
      if (edge.other_ns > time_ns_) Consider(0, edge.key_ns, edge.other_ns, edge.index);
    }
  }

  // The two below hold where nothing runs: what has started has ended. Instants inside a span of
  // the row need no look, for that span's edge is nearer.

  void ConsiderEarlier() {
    const auto consider = [this](int64_t start_ns, int64_t end_ns, uint32_t index) {
      Consider(static_cast<uint64_t>(time_ns_) - static_cast<uint64_t>(end_ns), start_ns, end_ns,
               index);
    };
    for (const DisjointRow& row : rep_.rows) {
      const uint64_t started = row.RankAfter(time_ns_);
      if (started == 0) continue;
      const RowSpan span = row.At(started - 1);
      consider(span.start_ns, span.end_ns, span.index);
    }
    const EdgeList& ends = rep_.overlap_ends;
    const uint64_t ended = ends.RankAfter(time_ns_);
    if (ended == 0) return;
    const int64_t last_ns = ends.At(ended - 1).key_ns;
    for (uint64_t rank = ended; rank-- > 0;) {
      const Edge edge = ends.At(rank);
      if (edge.key_ns != last_ns) break;
      consider(edge.other_ns, edge.key_ns, edge.index);
    }
  }

  void ConsiderLater() {
    const auto consider = [this](int64_t start_ns, int64_t end_ns, uint32_t index) {
      Consider(static_cast<uint64_t>(start_ns) - static_cast<uint64_t>(time_ns_), start_ns, end_ns,
               index);
    };
    for (const DisjointRow& row : rep_.rows) {
      const uint64_t started = row.RankAfter(time_ns_);
      if (started == row.size()) continue;
      const int64_t next_ns = row.At(started).start_ns;
      const uint64_t end = row.RankAfter(next_ns);
      // The last that starts then, and the one before it, which may be an instant.
      for (uint64_t rank = end; rank-- > started && rank + 2 >= end;) {
        const RowSpan span = row.At(rank);
        consider(span.start_ns, span.end_ns, span.index);
      }
    }
    const EdgeList& starts = rep_.overlap_starts;
    uint64_t rank = starts.RankAfter(time_ns_);
    if (rank == starts.size()) return;
    const int64_t next_ns = starts.At(rank).key_ns;
    for (; rank < starts.size(); ++rank) {
      const Edge edge = starts.At(rank);
      if (edge.key_ns != next_ns) break;
      consider(edge.key_ns, edge.other_ns, edge.index);
    }
  }

  const LaneRep& rep_;
  const int64_t time_ns_;
  std::optional<Candidate> best_;
};

}  // namespace

std::optional<size_t> LaneIndex::EventAt(int64_t time_ns, int64_t slop_ns) const {
  return Search(*rep_, time_ns).Find(slop_ns);
}

}  // namespace nanolane::timeline
