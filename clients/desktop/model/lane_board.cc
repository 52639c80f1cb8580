#include "clients/desktop/model/lane_board.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/wide_math.h"
#include "libs/base/number_text.h"

namespace nanolane::desktop {
namespace {

// "144 kernels", "1 kernel".
std::string Counted(uint32_t count, const char* what) {
  return absl::StrCat(base::GroupedCount(count), " ", what, count == 1 ? "" : "s");
}

StackLine LineOf(const TimelineModel& model, const LaneStacks& stacks, FrameTree::Node node) {
  const FramePlace& place = stacks.tree().FrameOf(node);
  return FrameLine(model.dictionary(place.dictionary), place.frame);
}

}  // namespace

bool LaneBoard::Work(const TimelineModel& model, const RowLayout& layout, double scroll,
                     double room, int64_t now_ns) {
  std::vector<size_t> in_sight;
  std::vector<size_t> others;
  for (const LaneBlock& block : layout.blocks()) {
    if (!block.expanded || model.lanes()[block.lane]->facts.lane.kind != trace::LaneKind::kStream) {
      continue;
    }
    const double y = layout.OnScreen(block.y, scroll);
    (y < room && y + block.height > 0 ? in_sight : others).push_back(block.lane);
  }
  in_sight.insert(in_sight.end(), others.begin(), others.end());
  return stacks_.Work(model, in_sight, kEventsPerFrame, now_ns);
}

std::optional<FrameHover> LaneBoard::FrameAt(const RowLayout& layout, size_t row, int64_t time_ns,
                                             int64_t slop_ns) const {
  const Row& of = layout.rows()[row];
  const StackLevels* levels = of.kind == RowKind::kStack ? stacks_.Of(of.lane) : nullptr;
  if (levels == nullptr || of.depth >= levels->size()) return std::nullopt;
  const std::optional<size_t> span = levels->index(of.depth).EventAt(time_ns, slop_ns);
  if (!span.has_value()) return std::nullopt;
  return FrameHover{row, of.lane, of.depth, *span};
}

HoverCard CardOf(const TimelineModel& model, const LaneStacks& stacks, const StackSpan& span) {
  const StackLine line = LineOf(model, stacks, span.node);
  HoverCard card{.title = line.function, .lines = {}};
  card.language = line.language;
  std::string where = LanguageName(line.language);
  if (!line.place.empty()) absl::StrAppend(&where, where.empty() ? "" : " · ", line.place);
  if (!where.empty()) card.lines.push_back(std::move(where));
  const int64_t length = ClampToInt64(static_cast<Wide>(span.end_ns) - span.start_ns);
  card.lines.push_back(
      absl::StrCat(ExactTime(length), ", ", ExactTime(span.gpu_ns), " of it on the GPU"));
  std::string under = Counted(span.kernels, "kernel");
  if (span.events > span.kernels) {
    absl::StrAppend(&under, " and ", Counted(span.events - span.kernels, "other event"));
  }
  card.lines.push_back(absl::StrCat(under, " under it"));
  return card;
}

std::string FrameName(const TimelineModel& model, const LaneStacks& stacks, FrameTree::Node node) {
  return LineOf(model, stacks, node).function;
}

}  // namespace nanolane::desktop
