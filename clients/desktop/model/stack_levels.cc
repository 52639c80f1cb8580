#include "clients/desktop/model/stack_levels.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

bool IsKernel(trace::Category category) { return category < trace::Category::kH2D; }

int64_t Sum(int64_t a, int64_t b) { return ClampToInt64(static_cast<Wide>(a) + b); }

}  // namespace

StackLevels::StackLevels(const LaneModel& lane, uint32_t folded)
    : lane_version_(lane.version), folded_(folded), blocks_(lane.events.block_count()) {}

bool StackLevels::Work(const TimelineModel& model, const LaneModel& lane, FrameTree& tree,
                       size_t most_events) {
  size_t done = 0;
  while (stage_ == Stage::kRead && done < most_events) {
    if (next_block_ == blocks_) {
      stage_ = Stage::kMerge;
    } else {
      done += ReadBlock(model, lane, tree);
    }
  }
  if (stage_ == Stage::kMerge && done < most_events) {
    MergeSome(model, lane, tree, most_events - done);
  }
  return complete();
}

size_t StackLevels::ReadBlock(const TimelineModel& model, const LaneModel& lane, FrameTree& tree) {
  const absl::StatusOr<EventStore::BlockStacks> block = lane.events.StacksOf(next_block_++);
  if (!block.ok()) return 1;  // a block that cannot be read has no stacks
  const size_t first = block->first;
  nodes_.resize(first + block->stack.size(), 0);
  for (size_t i = 0; i < block->stack.size(); ++i) {
    nodes_[first + i] = tree.NodeOf(model, block->dictionary, block->stack[i]);
  }
  const size_t from = order_.size();
  order_.resize(from + block->stack.size());
  const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(from);
  std::iota(begin, order_.end(), static_cast<uint32_t>(first));
  const auto earlier = [&lane](uint32_t a, uint32_t b) {
    return lane.events.start_ns(a) < lane.events.start_ns(b);
  };
  if (!std::is_sorted(begin, order_.end(), earlier)) {
    std::stable_sort(begin, order_.end(), earlier);
  }
  if (from < order_.size()) {
    cursors_.push({lane.events.start_ns(order_[from]), from, order_.size()});
  }
  return std::max<size_t>(block->stack.size(), 1);
}

size_t StackLevels::MergeSome(const TimelineModel& model, const LaneModel& lane,
                              const FrameTree& tree, size_t most_events) {
  size_t done = 0;
  while (done < most_events && !cursors_.empty()) {
    Cursor cursor = cursors_.top();
    cursors_.pop();
    // On with the same block while no other has an earlier event.
    do {
      done += Take(lane.events, order_[cursor.next++], tree);
      if (cursor.next < cursor.end) cursor.start_ns = lane.events.start_ns(order_[cursor.next]);
    } while (cursor.next < cursor.end && done < most_events &&
             (cursors_.empty() || !(cursor > cursors_.top())));
    if (cursor.next < cursor.end) cursors_.push(cursor);
  }
  if (cursors_.empty()) CloseTo(0);
  IndexSpans(model, tree);
  if (cursors_.empty()) Finish();
  return done;
}

size_t StackLevels::Take(const EventStore& events, uint32_t event, const FrameTree& tree) {
  const FrameTree::Node node = nodes_[event];
  const int64_t start = events.start_ns(event);
  size_t work = 1;
  if (node != current_) {
    CloseTo(tree.depth(tree.Common(node, current_)));
    const size_t kept = open_.size();
    open_.resize(tree.depth(node), {.start_ns = start, .end_ns = start});
    FrameTree::Node at = node;
    for (size_t depth = open_.size(); depth > kept; --depth, at = tree.parent(at)) {
      open_[depth - 1].node = at;
    }
    current_ = node;
    work += open_.size() - kept;
  }
  if (open_.empty()) return work;
  StackSpan& innermost = open_.back();
  innermost.end_ns = std::max(innermost.end_ns, events.end_ns(event));
  innermost.kernels += IsKernel(events.category(event)) ? 1 : 0;
  ++innermost.events;
  innermost.gpu_ns = Sum(innermost.gpu_ns, std::max<int64_t>(events.duration_ns(event), 0));
  return work;
}

// Ends the spans of all levels from `depth` on. What an inner one holds counts in its outer one.
void StackLevels::CloseTo(uint32_t depth) {
  while (open_.size() > depth) {
    const StackSpan span = open_.back();
    open_.pop_back();
    if (open_.size() >= folded_) {
      const size_t level = open_.size() - folded_;
      if (level >= levels_.size()) levels_.resize(level + 1);
      levels_[level].spans.push_back(span);
    }
    if (open_.empty()) continue;
    StackSpan& outer = open_.back();
    outer.end_ns = std::max(outer.end_ns, span.end_ns);
    outer.kernels += span.kernels;
    outer.events += span.events;
    outer.gpu_ns = Sum(outer.gpu_ns, span.gpu_ns);
  }
}

void StackLevels::IndexSpans(const TimelineModel& model, const FrameTree& tree) {
  std::vector<int64_t> start;
  std::vector<int64_t> duration;
  std::vector<trace::Category> language;
  for (Level& level : levels_) {
    start.clear();
    duration.clear();
    language.clear();
    for (; level.indexed < level.spans.size(); ++level.indexed) {
      const StackSpan& span = level.spans[level.indexed];
      start.push_back(span.start_ns);
      duration.push_back(ClampToInt64(static_cast<Wide>(span.end_ns) - span.start_ns));
      const FramePlace& place = tree.FrameOf(span.node);
      const trace::Language of = model.dictionary(place.dictionary).SymbolOf(place.frame).language;
      unknown_languages_ = unknown_languages_ || of == trace::Language::kUnknown;
      language.push_back(static_cast<trace::Category>(of));
    }
    if (!start.empty()) level.index.Append({start, duration, language});
  }
}

void StackLevels::Finish() {
  stage_ = Stage::kComplete;
  nodes_ = {};
  order_ = {};
  open_ = {};
  for (Level& level : levels_) level.spans.shrink_to_fit();
}

size_t StackLevels::MemoryBytes() const {
  size_t bytes = nodes_.capacity() * sizeof(FrameTree::Node) +
                 order_.capacity() * sizeof(uint32_t) + open_.capacity() * sizeof(StackSpan);
  for (const Level& level : levels_) {
    bytes += level.index.MemoryBytes() + level.spans.capacity() * sizeof(StackSpan);
  }
  return bytes;
}

}  // namespace nanolane::desktop
