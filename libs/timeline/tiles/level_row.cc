#include "libs/timeline/tiles/level_row.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "libs/base/status_macros.h"
#include "libs/trace/model.h"

namespace nanolane::timeline {

RowBytes BuildLevels(std::span<const LevelPoint> points) {
  assert(!points.empty());
  RowBytes row;
  std::vector<LevelNode> pages;
  std::vector<LevelNode> groups;
  for (size_t page = 0; page < points.size(); page += kPageEvents) {
    const auto in_page = points.subspan(page, std::min<size_t>(kPageEvents, points.size() - page));
    groups.clear();
    for (size_t at = 0; at < in_page.size(); at += kGroupEvents) {
      const auto group = in_page.subspan(at, std::min<size_t>(kGroupEvents, in_page.size() - at));
      row.groups.push_back(EncodeLevelGroup(group));
      groups.push_back(NodeOf(group));
    }
    row.pages.push_back(EncodeLevelNodes(groups, in_page.size()));
    pages.push_back(NodeOf(groups));
  }
  row.root = EncodeLevelNodes(pages, points.size());
  return row;
}

absl::StatusOr<LevelSummary> LevelSummaryOf(std::string_view root) {
  LevelNodes nodes;
  RETURN_IF_ERROR(nodes.Decode(root, kPageEvents, std::numeric_limits<uint32_t>::max()));
  std::vector<LevelNode> all;
  for (size_t i = 0; i < nodes.size(); ++i) all.push_back(nodes[i]);
  return LevelSummary{.points = nodes.points(), .node = NodeOf(all)};
}

void LaneLevels::Inside::Include(uint64_t count, int64_t low, int64_t high) {
  lowest = points == 0 ? low : std::min(lowest, low);
  highest = points == 0 ? high : std::max(highest, high);
  points += count;
}

void LaneLevels::Before::Include(const LevelPoint& other) {
  if (known && other.time_ns < point.time_ns) return;
  known = true;
  point = other;
}

// Goes through a row of levels from edge to edge. Nodes are passed as wholes unless an edge falls
// among their points.
class LevelCursor {
 public:
  explicit LevelCursor(RowSource& source) : source_(source) {}

  absl::Status Open(std::string_view root) {
    return root_.Decode(root, kPageEvents, std::numeric_limits<uint32_t>::max());
  }

  // Passes all points before the time, adding them to `inside`.
  absl::Status AdvanceTo(int64_t time_ns, LaneLevels::Inside& inside) {
    while (true) {
      if (group_open_) {
        PassPoints(time_ns, inside);
        if (point_at_ < group_.count) return absl::OkStatus();
        group_open_ = false;
        ++group_at_;
      }
      const LevelNodes& nodes = page_open_ ? page_ : root_;
      size_t& at = page_open_ ? group_at_ : page_at_;
      const size_t to = nodes.FirstReaching(time_ns, at);
      PassNodes(nodes, at, to, inside);
      at = to;
      if (at == nodes.size()) {
        if (!page_open_) return absl::OkStatus();
        page_open_ = false;
        ++page_at_;
        continue;
      }
      if (nodes[at].first_ns >= time_ns) return absl::OkStatus();
      RETURN_IF_ERROR(page_open_ ? OpenGroup() : OpenPage());
    }
  }

  // The last point passed, and the first one after it.
  const LaneLevels::Before& last() const { return last_; }
  std::optional<int64_t> next_ns() const {
    if (group_open_ && point_at_ < group_.count) return group_.time_ns[point_at_];
    if (page_open_ && group_at_ < page_.size()) return page_[group_at_].first_ns;
    // Not at a page that is open, which has been passed.
    const size_t page = page_at_ + (page_open_ ? 1 : 0);
    if (page < root_.size()) return root_[page].first_ns;
    return std::nullopt;
  }

 private:
  void PassPoints(int64_t time_ns, LaneLevels::Inside& inside) {
    for (; point_at_ < group_.count && group_.time_ns[point_at_] < time_ns; ++point_at_) {
      inside.Include(1, group_.level[point_at_], group_.level[point_at_]);
      last_ = {true, {group_.time_ns[point_at_], group_.level[point_at_]}};
    }
  }

  void PassNodes(const LevelNodes& nodes, size_t from, size_t to, LaneLevels::Inside& inside) {
    if (from == to) return;
    for (size_t i = from; i < to; ++i) {
      inside.Include(nodes.PointsOf(i), nodes[i].lowest, nodes[i].highest);
    }
    last_ = {true, {nodes[to - 1].last_ns, nodes[to - 1].last}};
  }

  absl::Status OpenPage() {
    ASSIGN_OR_RETURN(const std::string_view bytes, source_.Page(static_cast<uint32_t>(page_at_)));
    RETURN_IF_ERROR(page_.Decode(bytes, kGroupEvents, kPageGroups));
    if (page_.points() != root_.PointsOf(page_at_)) return BadRow("a page that is not its root's");
    page_open_ = true;
    group_at_ = 0;
    return absl::OkStatus();
  }

  absl::Status OpenGroup() {
    const auto number = static_cast<uint32_t>(page_at_ * kPageGroups + group_at_);
    ASSIGN_OR_RETURN(const std::string_view bytes, source_.Group(number));
    RETURN_IF_ERROR(group_.Decode(bytes, static_cast<size_t>(page_.PointsOf(group_at_))));
    group_open_ = true;
    point_at_ = 0;
    return absl::OkStatus();
  }

  RowSource& source_;
  LevelNodes root_;
  LevelNodes page_;
  LevelGroup group_;
  size_t page_at_ = 0;
  size_t group_at_ = 0;
  size_t point_at_ = 0;
  bool page_open_ = false;
  bool group_open_ = false;
  LaneLevels::Before last_;
};

LaneLevels::LaneLevels(const Window& window, uint32_t width)
    : grid_(window, width), width_(width), inside_(grid_.size()), before_(grid_.size() + 1) {}

void LaneLevels::AddPoints(std::span<const LevelPoint> points) {
  if (grid_.size() == 0) return;
  for (const LevelPoint& point : points) {
    if (point.level == trace::kNoLevel || point.time_ns >= grid_.window().end_ns) continue;
    if (point.time_ns < grid_.window().start_ns) {
      before_[0].Include(point);
      continue;
    }
    // Before the edges to the right as well: Finish() carries it on.
    const size_t column = grid_.ColumnOf(point.time_ns);
    inside_[column].Include(1, point.level, point.level);
    inside_[column].at_edge |= point.time_ns == grid_.left_ns(column);
    before_[column + 1].Include(point);
  }
}

absl::Status LaneLevels::AddLevels(std::string_view root, RowSource& source) {
  LevelCursor row(source);
  RETURN_IF_ERROR(row.Open(root));
  if (grid_.size() == 0) return absl::OkStatus();
  Inside before;
  RETURN_IF_ERROR(row.AdvanceTo(grid_.left_ns(0), before));
  if (row.last().known) before_[0].Include(row.last().point);
  for (size_t i = 0; i < grid_.size() && row.next_ns(); ++i) {
    if (*row.next_ns() >= grid_.right_ns(i)) continue;
    Inside& inside = inside_[i];
    inside.at_edge |= *row.next_ns() == grid_.left_ns(i);
    RETURN_IF_ERROR(row.AdvanceTo(grid_.right_ns(i), inside));
    if (row.last().known) before_[i + 1].Include(row.last().point);
  }
  return absl::OkStatus();
}

absl::Status LaneLevels::Finish(std::span<LevelColumn> out) {
  if (out.size() != width_) return absl::InvalidArgumentError("not as many columns as asked for");
  std::fill(out.begin(), out.end(), LevelColumn());
  if (grid_.size() == 0) return absl::OkStatus();
  std::optional<int64_t> before = level_before_;
  if (before_[0].known) before = before_[0].point.level;
  for (size_t i = 0; i < grid_.size(); ++i) {
    const Inside& inside = inside_[i];
    LevelColumn& column = out[i];
    column.known = before.has_value() || inside.points > 0;
    if (!column.known) continue;
    column.changes = static_cast<uint32_t>(
        std::min<uint64_t>(inside.points, std::numeric_limits<uint32_t>::max()));
    column.lowest = inside.points > 0 ? inside.lowest : *before;
    column.highest = inside.points > 0 ? inside.highest : *before;
    if (before && !inside.at_edge) {
      column.lowest = std::min(column.lowest, *before);
      column.highest = std::max(column.highest, *before);
    }
    if (inside.points > 0) before = before_[i + 1].point.level;
    column.last = *before;
  }
  if (grid_.size() < out.size()) SpreadNanoseconds(out);
  return absl::OkStatus();
}

// As LaneTiles does; the changes of a nanosecond count in the first of its columns.
void LaneLevels::SpreadNanoseconds(std::span<LevelColumn> out) const {
  const uint64_t span = grid_.size();
  for (uint32_t i = width_; i-- > 0;) {
    const uint64_t number = span * i / width_;
    const bool first = i == 0 || span * (i - 1) / width_ != number;
    out[i] = out[static_cast<size_t>(number)];
    if (!first) out[i].changes = 0;
  }
}

}  // namespace nanolane::timeline
