// Which events of a lane lie in a window.
#include <algorithm>

#include "libs/timeline/lane_rep.h"

namespace nanolane::timeline {

namespace {

using ClippedEvent = LaneIndex::ClippedEvent;

class Collector {
 public:
  explicit Collector(const Window& window) : window_(window) {}

  void Add(int64_t start_ns, int64_t end_ns, uint32_t index) {
    const Window clipped = {std::max(start_ns, window_.start_ns), std::min(end_ns, window_.end_ns)};
    events_.push_back({index, std::max<int64_t>(clipped.span(), 0)});
  }

  // The spans that start inside, and the one that runs at the start.
  void AddRow(const DisjointRow& row) {
    const auto from = row.Locate(window_.start_ns);
    const auto to = row.Locate(window_.end_ns);
    if (from.rank > 0) {
      const RowSpan span = row.At(from.rank - 1);
      if (span.end_ns > window_.start_ns) Add(span.start_ns, span.end_ns, span.index);
    }
    for (uint64_t rank = from.rank; rank < to.rank; ++rank) {
      const RowSpan span = row.At(rank);
      Add(span.start_ns, span.end_ns, span.index);
    }
  }

  void AddInstants(const EdgeList& instants) {
    const uint64_t end = instants.RankOf(window_.end_ns);
    for (uint64_t rank = instants.RankOf(window_.start_ns); rank < end; ++rank) {
      const Edge edge = instants.At(rank);
      Add(edge.key_ns, edge.key_ns, edge.index);
    }
  }

  // From the last start before the window's end back, over those that end after its start.
  void AddOverlaps(const EdgeList& starts) {
    uint64_t end = starts.RankOf(window_.end_ns);
    while (true) {
      const uint64_t rank = starts.LastRunning(end, window_.start_ns);
      if (rank == end) return;
      const Edge edge = starts.At(rank);
      Add(edge.key_ns, edge.other_ns, edge.index);
      end = rank;
    }
  }

  std::vector<ClippedEvent> Take() { return std::move(events_); }

 private:
  Window window_;
  std::vector<ClippedEvent> events_;
};

}  // namespace

std::optional<std::vector<ClippedEvent>> LaneIndex::EventsIn(const Window& window,
                                                             size_t most) const {
  const size_t count = Count(window);
  if (count > most) return std::nullopt;
  Collector collector(window);
  if (count > 0) {
    for (const DisjointRow& row : rep_->rows) collector.AddRow(row);
    collector.AddOverlaps(rep_->overlap_starts);
    collector.AddInstants(rep_->overlap_instants);
  }
  return collector.Take();
}

}  // namespace nanolane::timeline
