#include "libs/timeline/tiles/plan_rows.h"

#include <algorithm>

#include "libs/base/status_macros.h"

namespace nanolane::timeline {

namespace {

struct Piece {
  int64_t start_ns;
  int64_t end_ns;
};

// Of equal starts, instants first, so that they fit before a span that starts with them; then the
// longest, so that it comes to the first row.
bool ComesBefore(const TileSpan& a, const TileSpan& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.instant() != b.instant()) return a.instant();
  return a.end_ns > b.end_ns;
}

class FirstFit {
 public:
  // Events that start before `late_before_ns` go past the first row.
  explicit FirstFit(std::optional<int64_t> late_before_ns) : late_before_ns_(late_before_ns) {
    if (late_before_ns) rows_.emplace_back();
  }

  void Add(const TileSpan& event) {
    const bool late = late_before_ns_ && event.start_ns < *late_before_ns_;
    for (size_t i = late ? 1 : 0; i < kMaxRows; ++i) {
      if (i == rows_.size()) rows_.emplace_back();
      std::vector<TileSpan>& row = rows_[i];
      if (!row.empty() && row.back().end_ns > event.start_ns) continue;
      row.push_back(event);
      return;
    }
    loose_.push_back(event);
  }

  std::vector<std::vector<TileSpan>>& rows() { return rows_; }
  std::vector<TileSpan>& loose() { return loose_; }

 private:
  std::optional<int64_t> late_before_ns_;
  std::vector<std::vector<TileSpan>> rows_;
  std::vector<TileSpan> loose_;
};

// The parts of sorted, disjoint pieces outside other such pieces.
std::vector<Piece> Subtract(std::span<const Piece> from, std::span<const Piece> what) {
  std::vector<Piece> rest;
  size_t first = 0;
  for (const Piece& piece : from) {
    int64_t at = piece.start_ns;
    while (first < what.size() && what[first].end_ns <= at) ++first;
    for (size_t i = first; i < what.size() && what[i].start_ns < piece.end_ns; ++i) {
      if (what[i].start_ns > at) rest.push_back({at, what[i].start_ns});
      at = std::max(at, what[i].end_ns);
    }
    if (at < piece.end_ns) rest.push_back({at, piece.end_ns});
  }
  return rest;
}

void Unite(std::vector<Piece>& runs, int64_t start_ns, int64_t end_ns) {
  if (!runs.empty() && start_ns <= runs.back().end_ns) {
    runs.back().end_ns = std::max(runs.back().end_ns, end_ns);
  } else {
    runs.push_back({start_ns, end_ns});
  }
}

// The union of events sorted by start.
std::vector<Piece> Union(std::span<const TileSpan> events) {
  std::vector<Piece> runs;
  for (const TileSpan& event : events) {
    if (!event.instant()) Unite(runs, event.start_ns, event.end_ns);
  }
  return runs;
}

// Takes the cover that is there away from sorted pieces, looking only near them: pieces that lie
// far apart are asked for by themselves.
absl::StatusOr<std::vector<Piece>> SubtractSealed(std::vector<Piece> pieces, SealedCover& sealed) {
  constexpr uint64_t kMostVisits = 64;
  const std::optional<int64_t> end_ns = sealed.End();
  if (pieces.empty() || !end_ns || pieces.front().start_ns >= *end_ns) return pieces;
  const auto distance = [](int64_t from, int64_t to) {
    return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  };
  const uint64_t far = distance(pieces.front().start_ns, pieces.back().end_ns) / kMostVisits;
  std::vector<Piece> covered;
  for (size_t from = 0; from < pieces.size() && pieces[from].start_ns < *end_ns;) {
    size_t to = from + 1;
    while (to < pieces.size() && distance(pieces[to - 1].end_ns, pieces[to].start_ns) <= far) ++to;
    RETURN_IF_ERROR(
        sealed.Visit(pieces[from].start_ns, pieces[to - 1].end_ns, [&](int64_t start, int64_t end) {
          if (start < end) covered.push_back({start, end});
        }));
    from = to;
  }
  std::sort(covered.begin(), covered.end(),
            [](const Piece& a, const Piece& b) { return a.start_ns < b.start_ns; });
  return Subtract(pieces, covered);
}

absl::StatusOr<bool> OverlapsSealed(std::span<const TileSpan> row, SealedCover& sealed) {
  const std::optional<int64_t> end_ns = sealed.End();
  if (!end_ns || row.front().start_ns >= *end_ns) return false;
  bool overlaps = false;
  // An instant alone covers nothing; its extent has none.
  if (row.front().start_ns == row.back().end_ns) return false;
  RETURN_IF_ERROR(sealed.Visit(row.front().start_ns, row.back().end_ns,
                               [&](int64_t start, int64_t end) { overlaps |= start < end; }));
  return overlaps;
}

// What the step's events cover beyond its first row (if that covers) and the sealed cover.
absl::StatusOr<std::vector<TileSpan>> Beyond(std::span<const TileSpan> events,
                                             std::span<const TileSpan> covering_row,
                                             SealedCover& sealed) {
  std::vector<Piece> pieces = Subtract(Union(events), Union(covering_row));
  ASSIGN_OR_RETURN(pieces, SubtractSealed(std::move(pieces), sealed));
  std::vector<TileSpan> spans;
  for (const Piece& piece : pieces) {
    if (!spans.empty() && spans.back().end_ns == piece.start_ns) {
      spans.back().end_ns = piece.end_ns;
    } else {
      spans.push_back({piece.start_ns, piece.end_ns, 0});
    }
  }
  return spans;
}

}  // namespace

absl::StatusOr<std::vector<PlannedRow>> PlanRows(std::vector<TileSpan> events,
                                                 SealedCover& sealed) {
  std::vector<PlannedRow> plan;
  if (events.empty()) return plan;
  for (TileSpan& event : events) event.end_ns = std::max(event.start_ns, event.end_ns);
  if (!std::is_sorted(events.begin(), events.end(), ComesBefore)) {
    std::stable_sort(events.begin(), events.end(), ComesBefore);
  }
  std::optional<int64_t> late_before_ns = sealed.End();
  if (late_before_ns && events.back().start_ns < *late_before_ns) late_before_ns.reset();
  FirstFit fit(late_before_ns);
  for (const TileSpan& event : events) fit.Add(event);

  bool first_covers = true;
  if (!late_before_ns) {
    ASSIGN_OR_RETURN(const bool overlaps, OverlapsSealed(fit.rows().front(), sealed));
    first_covers = !overlaps;
  }
  const bool all_in_first = fit.rows().size() == 1;
  std::vector<TileSpan> cover;
  if (!first_covers || !all_in_first) {
    const std::vector<TileSpan>& first = fit.rows().front();
    ASSIGN_OR_RETURN(
        cover, Beyond(events, first_covers ? std::span(first) : std::span<TileSpan>(), sealed));
  }
  for (std::vector<TileSpan>& row : fit.rows()) {
    const bool covers = first_covers && plan.empty();
    plan.push_back({RowKind::kDisjoint, {.events = true, .covers = covers}, std::move(row)});
  }
  if (!fit.loose().empty()) {
    plan.push_back({RowKind::kLoose, {.events = true, .covers = false}, std::move(fit.loose())});
  }
  if (!cover.empty()) {
    plan.push_back({RowKind::kCover, {.events = false, .covers = true}, std::move(cover)});
  }
  return plan;
}

}  // namespace nanolane::timeline
