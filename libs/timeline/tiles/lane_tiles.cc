#include "libs/timeline/tiles/lane_tiles.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "libs/base/status_macros.h"
#include "libs/timeline/tiles/dominant_labels.h"
#include "libs/timeline/tiles/node_list.h"
#include "libs/timeline/tiles/row_cursor.h"
#include "libs/timeline/tiles/visit_spans.h"

namespace nanolane::timeline {

namespace {

uint64_t Distance(int64_t from_ns, int64_t to_ns) {
  return static_cast<uint64_t>(to_ns) - static_cast<uint64_t>(from_ns);
}

int64_t Saturated(uint64_t length) {
  return static_cast<int64_t>(
      std::min(length, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
}

}  // namespace

LaneTiles::LaneTiles(const Window& window, uint32_t width)
    : grid_(window, width),
      width_(width),
      columns_(grid_),
      covered_(grid_.size()),
      row_(std::make_unique<RowCursor>()) {}

LaneTiles::~LaneTiles() = default;

void LaneTiles::Reset(const Window& window, uint32_t width) {
  grid_ = ColumnGrid(window, width);
  width_ = width;
  columns_.Reset();
  row_weights_.Clear();
  runs_.Clear();
  covered_.assign(grid_.size(), 0);
  rows_cover_ = false;
  tally_.Clear();
}

void LaneTiles::CountRun(const TileSpan& span) {
  const int64_t start_ns = std::max(span.start_ns, grid_.window().start_ns);
  const int64_t end_ns = std::min(span.end_ns, grid_.window().end_ns);
  if (start_ns < end_ns) runs_.Add(start_ns, end_ns);
}

void LaneTiles::AddSpans(std::span<const TileSpan> spans) {
  assert(!rows_cover_);
  for (const TileSpan& span : spans) {
    columns_.Add(span);
    CountRun(span);
  }
}

absl::Status LaneTiles::AddRow(std::string_view root, RowSource& source, RowRole role,
                               std::span<const uint32_t> label_of) {
  NodesHeader header;
  RETURN_IF_ERROR(NodeList::DecodeHeader(root, NodeList::kRoot, header));
  if (header.kind == RowKind::kCover) role.events = false;
  const bool touches = header.first_ns < grid_.window().end_ns &&
                       header.last_ns >= grid_.window().start_ns && grid_.size() > 0;
  if (!touches || (!role.events && !role.covers)) return absl::OkStatus();
  if (header.kind == RowKind::kLoose) return AddLooseRow(root, source, role, label_of);
  RowCursor& row = *row_;
  RETURN_IF_ERROR(row.Open(root, source, {.query_label_of = label_of, .wanted = role.events}));
  rows_cover_ |= role.covers;
  if (role.events && !label_of.empty()) {
    tally_.Reserve(size_t{*std::max_element(label_of.begin(), label_of.end())} + 1);
  }
  return ReadColumns(row, role);
}

absl::Status LaneTiles::AddLooseRow(std::string_view root, RowSource& source, RowRole role,
                                    std::span<const uint32_t> label_of) {
  if (role.covers && rows_cover_) {
    return absl::FailedPreconditionError("a loose row that covers comes after another that does");
  }
  bool bad = false;
  RETURN_IF_ERROR(VisitSpans(root, source, grid_.window(), [&](const TileSpan& span) {
    if (role.covers) CountRun(span);
    if (!role.events) return;
    bad |= span.label >= label_of.size();
    if (!bad) columns_.Add({span.start_ns, span.end_ns, label_of[span.label]});
  }));
  return bad ? BadRow("a label out of range") : absl::OkStatus();
}

absl::Status LaneTiles::ReadColumns(RowCursor& row, RowRole role) {
  const Window& window = grid_.window();
  size_t column = grid_.ColumnOf(std::max(row.first_ns(), window.start_ns));
  RETURN_IF_ERROR(row.AdvanceTo(grid_.left_ns(column), nullptr));
  const auto& runs = runs_.Merged();
  size_t run = 0;
  if (!runs.empty()) {  // the first that ends after the first edge
    run = static_cast<size_t>(
        std::upper_bound(runs.begin(), runs.end(), grid_.left_ns(column),
                         [](int64_t time, const RunList::Run& r) { return time < r.end_ns; }) -
        runs.begin());
  }
  for (; column < grid_.size() && grid_.left_ns(column) <= row.last_ns(); ++column) {
    RETURN_IF_ERROR(ReadColumn(row, role, column, run));
  }
  return absl::OkStatus();
}

absl::Status LaneTiles::ReadColumn(RowCursor& row, RowRole role, size_t column, size_t& run) {
  const int64_t left_ns = grid_.left_ns(column);
  const int64_t right_ns = grid_.right_ns(column);
  LabelTally* tally = role.events ? &tally_ : nullptr;
  const TileSpan* running = row.RunningAt(left_ns);
  const uint64_t passed = row.passed();
  if (running != nullptr && tally != nullptr) {
    tally->Add(running->label, Distance(left_ns, std::min(running->end_ns, right_ns)));
    tally->longest = {running->length(), running->start_ns, running->label, true};
  }
  RETURN_IF_ERROR(role.covers ? ReadCovered(row, tally, column, run)
                              : row.AdvanceTo(right_ns, tally));
  if (tally == nullptr) return absl::OkStatus();
  // What was passed was added in full; the last one may end after the column.
  running = row.passed() != passed ? row.RunningAt(right_ns) : nullptr;
  if (running != nullptr) tally->Add(running->label, 0 - Distance(right_ns, running->end_ns));
  if (tally->empty()) return absl::OkStatus();
  columns_.AddRow(column, row.passed() - passed, tally->longest);
  row_weights_.Add(static_cast<uint32_t>(column), grid_.extent(column), *tally);
  return absl::OkStatus();
}

// Goes to the column's right edge, counting what the row covers outside the runs.
absl::Status LaneTiles::ReadCovered(RowCursor& row, LabelTally* tally, size_t column, size_t& run) {
  const auto& runs = runs_.Merged();
  const int64_t right_ns = grid_.right_ns(column);
  uint64_t before = row.CoveredBefore(grid_.left_ns(column));
  uint64_t covered = 0;
  while (run < runs.size() && runs[run].start_ns < right_ns) {
    const int64_t start_ns = std::max(runs[run].start_ns, grid_.left_ns(column));
    RETURN_IF_ERROR(row.AdvanceTo(start_ns, tally));
    covered += row.CoveredBefore(start_ns) - before;
    const int64_t end_ns = std::min(runs[run].end_ns, right_ns);
    RETURN_IF_ERROR(row.AdvanceTo(end_ns, tally));
    before = row.CoveredBefore(end_ns);
    if (runs[run].end_ns > right_ns) break;
    ++run;
  }
  RETURN_IF_ERROR(row.AdvanceTo(right_ns, tally));
  covered_[column] += covered + row.CoveredBefore(right_ns) - before;
  return absl::OkStatus();
}

absl::Status LaneTiles::Finish(std::span<const Label> labels, std::span<TileColumn> out) {
  if (out.size() != width_) return absl::InvalidArgumentError("not as many columns as asked for");
  std::fill(out.begin(), out.end(), TileColumn());
  if (grid_.size() == 0) return absl::OkStatus();
  const std::span<TileColumn> columns = out.first(grid_.size());
  FillCoverage(columns);
  DominantLabels dominants(labels);
  RETURN_IF_ERROR(dominants.Fill(grid_, columns_, row_weights_, columns));
  const std::vector<Longest>& longest = columns_.longest();
  for (size_t i = 0; i < columns.size(); ++i) {
    TileColumn& column = columns[i];
    column.present = longest[i].any;
    column.starts = static_cast<uint32_t>(
        std::min<uint64_t>(columns_.starts(i), std::numeric_limits<uint32_t>::max()));
    column.longest_start_ns = longest[i].start_ns;
    column.longest_duration_ns = Saturated(longest[i].length);
    column.longest_label = longest[i].label;
  }
  if (grid_.size() < out.size()) SpreadNanoseconds(out);
  return absl::OkStatus();
}

void LaneTiles::FillCoverage(std::span<TileColumn> out) {
  for (const RunList::Run& run : runs_.Merged()) {
    int64_t at = run.start_ns;
    for (size_t i = grid_.ColumnOf(at); at < run.end_ns; ++i) {
      const int64_t to = std::min(run.end_ns, grid_.right_ns(i));
      covered_[i] += Distance(at, to);
      at = to;
    }
  }
  for (size_t i = 0; i < out.size(); ++i) out[i].covered_ns = Saturated(covered_[i]);
}

// Below 1 ns per column: each nanosecond is spread over the columns that share it, in place from
// the last column on (a column's nanosecond never has a higher number than it). Columns after the
// first of a nanosecond have no instants, and only the last has an extent.
void LaneTiles::SpreadNanoseconds(std::span<TileColumn> out) const {
  const uint64_t span = grid_.size();
  for (uint32_t i = width_; i-- > 0;) {
    const uint64_t number = span * i / width_;
    const TileColumn nanosecond = out[static_cast<size_t>(number)];
    const bool first = i == 0 || span * (i - 1) / width_ != number;
    const bool has_extent = span * (uint64_t{i} + 1) / width_ != number;
    const bool runs = nanosecond.covered_ns > 0;
    TileColumn& column = out[i];
    column = first || runs ? nanosecond : TileColumn();
    if (!first) column.starts = 0;
    if (!has_extent) column.covered_ns = 0;
    column.edge_covered = !has_extent && runs;
  }
}

}  // namespace nanolane::timeline
