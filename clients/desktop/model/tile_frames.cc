#include "clients/desktop/model/tile_frames.h"

#include <algorithm>
#include <utility>

namespace nanolane::desktop {
namespace {

using timeline::Wide;
using timeline::Window;

Wide LengthOf(const Window& window) { return static_cast<Wide>(window.end_ns) - window.start_ns; }

bool Covers(const TileFrame& frame, const Window& window) {
  return frame.window.start_ns <= window.start_ns && frame.window.end_ns >= window.end_ns;
}

// Whether a's columns are finer than b's.
bool IsFiner(const TileFrame& a, const TileFrame& b) {
  return LengthOf(a.window) * b.width < LengthOf(b.window) * a.width;
}

// Columns of `frame` that lie in [from_ns, to_ns) or reach into it: [first, last], or nothing.
// Edges are rounded down (columns.h), so that a column found by division is at most one too early.
struct Touched {
  uint32_t first = 0;
  uint32_t last = 0;
};
std::optional<Touched> ColumnsTouched(const TileFrame& frame, int64_t from_ns, int64_t to_ns) {
  if (to_ns <= frame.window.start_ns || from_ns >= frame.window.end_ns) return std::nullopt;
  const Wide length = LengthOf(frame.window);
  const auto edge = [&frame](uint32_t column) {
    return timeline::ColumnEdge(frame.window, frame.width, column);
  };
  const auto near = [&](Wide time) {
    const Wide clipped = std::clamp<Wide>(time - frame.window.start_ns, 0, length - 1);
    return static_cast<uint32_t>(std::min<Wide>(clipped * frame.width / length, frame.width - 1));
  };
  Touched touched{near(from_ns), near(static_cast<Wide>(to_ns) - 1)};
  while (touched.first + 1 < frame.width && edge(touched.first) < from_ns &&
         edge(touched.first + 1) <= from_ns) {
    ++touched.first;
  }
  while (touched.last + 1 < frame.width && edge(touched.last + 1) < to_ns) ++touched.last;
  return touched;
}

// Of columns that are cut at other edges: present where any of them is, covered as much as their
// shares say, the category of the one that covers most.
timeline::PixelColumn Folded(const TileFrame& frame, const TileLane& lane, int64_t from_ns,
                             int64_t to_ns) {
  timeline::PixelColumn folded;
  const std::optional<Touched> touched =
      ColumnsTouched(frame, from_ns, std::max(to_ns, from_ns + 1));
  if (!touched.has_value()) return folded;
  double covered = 0;
  double most = -1;
  int64_t left = timeline::ColumnEdge(frame.window, frame.width, touched->first);
  for (uint32_t i = touched->first; i <= touched->last; ++i) {
    const int64_t right = timeline::ColumnEdge(frame.window, frame.width, i + 1);
    const timeline::PixelColumn& column = lane.spans[i];
    const double extent = static_cast<double>(std::max<int64_t>(right - left, 1));
    const double common = static_cast<double>(std::min(right, to_ns) - std::max(left, from_ns));
    left = right;
    if (!column.present) continue;
    folded.present = true;
    folded.starts += column.starts;
    const double part =
        static_cast<double>(column.covered_ns) * std::clamp(common / extent, 0.0, 1.0);
    covered += part;
    if (part <= most) continue;
    most = part;
    folded.dominant = column.dominant;
    folded.edge_covered = column.covered_ns > 0;
  }
  folded.covered_ns =
      std::min(static_cast<int64_t>(covered), std::max<int64_t>(to_ns - from_ns, 0));
  return folded;
}

timeline::LevelColumn FoldedLevel(const TileFrame& frame, const TileLane& lane, int64_t from_ns,
                                  int64_t to_ns) {
  timeline::LevelColumn folded;
  const std::optional<Touched> touched =
      ColumnsTouched(frame, from_ns, std::max(to_ns, from_ns + 1));
  if (!touched.has_value()) return folded;
  for (uint32_t i = touched->first; i <= touched->last; ++i) {
    const timeline::LevelColumn& column = lane.levels[i];
    if (!column.known) continue;
    folded.lowest = folded.known ? std::min(folded.lowest, column.lowest) : column.lowest;
    folded.highest = folded.known ? std::max(folded.highest, column.highest) : column.highest;
    folded.last = column.last;
    folded.known = true;
  }
  return folded;
}

}  // namespace

void TileFrames::Add(std::shared_ptr<const TileFrame> frame) {
  ++version_;
  for (const auto& [lane, columns] : frame->lanes) {
    int64_t& highest = highest_[lane];
    for (const timeline::LevelColumn& column : columns.levels) {
      if (column.known) highest = std::max(highest, column.highest);
    }
  }
  // Further lanes of a window that is there already: one frame of all of them.
  for (std::shared_ptr<const TileFrame>& known : frames_) {
    if (!known->IsOf(frame->window, frame->width)) continue;
    auto merged = std::make_shared<TileFrame>(*known);
    const auto shift = static_cast<uint32_t>(merged->names.size());
    merged->names.insert(merged->names.end(), frame->names.begin(), frame->names.end());
    for (const auto& [id, lane] : frame->lanes) {
      TileLane moved = lane;
      for (uint32_t& name : moved.dominant_name) name += name != 0 ? shift : 0;
      for (LongestEvent& event : moved.longest) event.name += event.name != 0 ? shift : 0;
      merged->lanes.insert_or_assign(id, std::move(moved));
    }
    if (widest_ == known) widest_ = merged;
    known = std::move(merged);
    return;
  }
  if (widest_ == nullptr || LengthOf(frame->window) >= LengthOf(widest_->window)) widest_ = frame;
  frames_.push_front(std::move(frame));
  if (frames_.size() > kMostFrames) frames_.pop_back();
}

const TileFrame* TileFrames::Best(trace::LaneId lane, const Window& window, uint32_t width) const {
  const TileFrame* best = nullptr;
  for (const auto& frame : frames_) {
    if (!frame->lanes.contains(lane)) continue;
    if (frame->IsOf(window, width)) return frame.get();
    if (!Covers(*frame, window)) continue;
    if (best == nullptr || IsFiner(*frame, *best)) best = frame.get();
  }
  if (best != nullptr) return best;
  // Rather a part than nothing.
  if (widest_ != nullptr && widest_->lanes.contains(lane)) return widest_.get();
  for (const auto& frame : frames_) {
    if (frame->lanes.contains(lane)) return frame.get();
  }
  return nullptr;
}

TileFrames::Answer TileFrames::Spans(trace::LaneId lane, const Window& window,
                                     std::span<timeline::PixelColumn> out) const {
  std::fill(out.begin(), out.end(), timeline::PixelColumn{});
  const auto width = static_cast<uint32_t>(out.size());
  const TileFrame* frame = Best(lane, window, width);
  if (frame == nullptr) return Answer::kNone;
  const TileLane& columns = frame->lanes.at(lane);
  if (columns.spans.size() != frame->width) return Answer::kNone;
  if (frame->IsOf(window, width)) {
    std::copy(columns.spans.begin(), columns.spans.end(), out.begin());
    return Answer::kExact;
  }
  timeline::EdgeWalker edges(window, width);
  int64_t left = edges.Next();
  for (timeline::PixelColumn& column : out) {
    const int64_t right = edges.Next();
    column = Folded(*frame, columns, left, right);
    left = right;
  }
  return Answer::kStretched;
}

TileFrames::Answer TileFrames::Levels(trace::LaneId lane, const Window& window,
                                      std::span<timeline::LevelColumn> out) const {
  std::fill(out.begin(), out.end(), timeline::LevelColumn{});
  const auto width = static_cast<uint32_t>(out.size());
  const TileFrame* frame = Best(lane, window, width);
  if (frame == nullptr) return Answer::kNone;
  const TileLane& columns = frame->lanes.at(lane);
  if (columns.levels.size() != frame->width) return Answer::kNone;
  if (frame->IsOf(window, width)) {
    std::copy(columns.levels.begin(), columns.levels.end(), out.begin());
    return Answer::kExact;
  }
  timeline::EdgeWalker edges(window, width);
  int64_t left = edges.Next();
  for (timeline::LevelColumn& column : out) {
    const int64_t right = edges.Next();
    column = FoldedLevel(*frame, columns, left, right);
    left = right;
  }
  return Answer::kStretched;
}

std::optional<TileFrames::Spot> TileFrames::At(trace::LaneId lane, const Window& window,
                                               uint32_t width, uint32_t x) const {
  const TileFrame* frame = Best(lane, window, width);
  if (frame == nullptr || !frame->IsOf(window, width) || x >= width) return std::nullopt;
  const TileLane& columns = frame->lanes.at(lane);
  if (columns.spans.size() != width || !columns.spans[x].present) return std::nullopt;
  const auto name_of = [frame](uint32_t name) {
    return name != 0 && name <= frame->names.size() ? frame->names[name - 1] : std::string();
  };
  return Spot{.column = columns.spans[x],
              .extent = {timeline::ColumnEdge(window, width, x),
                         timeline::ColumnEdge(window, width, x + 1)},
              .dominant_name = name_of(columns.dominant_name[x]),
              .longest_name = name_of(columns.longest[x].name),
              .longest = columns.longest[x]};
}

std::vector<trace::LaneId> TileFrames::Missing(const TileQuestion& question) const {
  for (const auto& frame : frames_) {
    if (!frame->IsOf(question.window, question.width)) continue;
    std::vector<trace::LaneId> missing;
    for (const trace::LaneId lane : question.lanes) {
      if (!frame->lanes.contains(lane)) missing.push_back(lane);
    }
    return missing;
  }
  return question.lanes;
}

int64_t TileFrames::HighestLevel(trace::LaneId lane) const {
  const auto found = highest_.find(lane);
  return found != highest_.end() ? found->second : 0;
}

}  // namespace nanolane::desktop
