#include "clients/desktop/model/loss_marks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/label_boxes.h"
#include "clients/desktop/model/wide_math.h"
#include "libs/base/number_text.h"

namespace nanolane::desktop {
namespace {

using trace::EventKind;
using trace::LaneKind;

constexpr double kLeastPick = 3;  // pixels beside a stretch that still hit it

bool CanHold(LaneKind lane, EventKind kind) {
  switch (kind) {
    case EventKind::kKernel:
    case EventKind::kMemcpy:
    case EventKind::kMemset: return lane == LaneKind::kStream;
    case EventKind::kSync: return lane == LaneKind::kStreamSync || lane == LaneKind::kNoStreamSync;
    case EventKind::kNvtx: return lane == LaneKind::kNvtxThread;
    case EventKind::kMemory:
      return lane == LaneKind::kMemoryDriver || lane == LaneKind::kMemoryFramework;
    case EventKind::kApi: return lane == LaneKind::kThreadApi;
    case EventKind::kUnspecified: return false;
  }
  return false;
}

const char* KindInWords(EventKind kind) {
  switch (kind) {
    case EventKind::kKernel: return "kernel";
    case EventKind::kMemcpy: return "copy";
    case EventKind::kMemset: return "memset";
    case EventKind::kSync: return "synchronization";
    case EventKind::kNvtx: return "NVTX range";
    case EventKind::kMemory: return "memory event";
    case EventKind::kApi: return "API call";
    case EventKind::kUnspecified: return "event";
  }
  return "event";
}

std::string LineOf(const trace::Loss& loss) {
  std::string what = KindInWords(loss.kind);
  if (loss.count != 1) what = what == "copy" ? "copies" : absl::StrCat(what, "s");
  return absl::StrCat(base::GroupedCount(loss.count), " ", what, loss.reason.empty() ? "" : ": ",
                      loss.reason);
}

// The row that bears the losses of a kind: the lane's where it is the only one, else the header's.
std::optional<size_t> RowOf(const TimelineModel& model, const RowLayout& layout, uint32_t session,
                            EventKind kind) {
  size_t lanes = 0;
  for (const auto& lane : model.lanes()) {
    if (lane->facts.session == session && CanHold(lane->facts.lane.kind, kind)) ++lanes;
  }
  std::optional<size_t> header;
  const std::string prefix = absl::StrCat(model.sessions()[session].id, "/");
  for (size_t i = 0; i < layout.rows().size(); ++i) {
    const Row& row = layout.rows()[i];
    if (row.kind == RowKind::kHeader && row.group.starts_with(prefix) && !header) header = i;
    if (lanes != 1 || !HasLane(row) || row.label.empty()) continue;
    const LaneFacts& facts = model.lanes()[row.lane]->facts;
    if (facts.session == session && CanHold(facts.lane.kind, kind)) return i;
  }
  return header;
}

LossMark* MarkOf(std::vector<LossMark>& marks, size_t row) {
  for (LossMark& mark : marks) {
    if (mark.row == row) return &mark;
  }
  marks.push_back({.row = row, .count = 0, .lines = {}, .stretches = {}});
  return &marks.back();
}

}  // namespace

std::vector<LossMark> LossMarksOf(const TimelineModel& model, const RowLayout& layout) {
  std::vector<LossMark> marks;
  for (uint32_t session = 0; session < model.sessions().size(); ++session) {
    for (const trace::Loss& loss : model.sessions()[session].losses) {
      const auto row = RowOf(model, layout, session, loss.kind);
      if (loss.count == 0 || !row.has_value()) continue;
      LossMark& mark = *MarkOf(marks, *row);
      mark.count += loss.count;
      mark.lines.push_back(LineOf(loss));
    }
  }
  for (const SeenLoss& seen : model.seen_losses()) {
    const auto row = RowOf(model, layout, seen.session, seen.loss.kind);
    if (row.has_value()) MarkOf(marks, *row)->stretches.push_back({seen.when, LineOf(seen.loss)});
  }
  std::sort(marks.begin(), marks.end(),
            [](const LossMark& a, const LossMark& b) { return a.row < b.row; });
  return marks;
}

HoverCard CardOf(const LossMark& mark) {
  HoverCard card{.title = absl::StrCat(base::GroupedCount(mark.count), " lost"),
                 .lines = mark.lines};
  card.warns = true;
  return card;
}

HoverCard CardOf(const LossMark::Stretch& stretch) {
  HoverCard card{.title = "Lost here",
                 .lines = {stretch.line, "somewhere in this stretch of time"}};
  card.warns = true;
  return card;
}

std::optional<HoverCard> LossCardAt(const std::vector<LossMark>& marks, const RowLayout& layout,
                                    const ScreenLayout& screen, double scroll,
                                    const timeline::Window& shown, double x, double y) {
  for (const LossMark& mark : marks) {
    const Row& row = layout.rows()[mark.row];
    const double top = screen.lanes.y + layout.OnScreen(row.y, scroll);
    if (!RowsArea(screen, layout, row.y < layout.stuck_height()).Contains(x, y)) continue;
    Rect box = HeaderLossBox(screen, top);
    if (HasLane(row)) {
      const LaneBlock& block = layout.blocks()[row.block];
      box = BoxesOf(screen, layout, block, scroll, block.pinned, true).loss;
    }
    if (Rect{box.x - 4, box.y - 4, box.width + 8, box.height + 8}.Contains(x, y)) {
      return CardOf(mark);
    }
    if (x < screen.lanes.x || y < top || y >= top + row.height) continue;
    for (const LossMark::Stretch& stretch : mark.stretches) {
      const double at = x - screen.lanes.x;
      if (at >= PixelOf(shown, screen.lanes.width, stretch.when.start_ns) - kLeastPick &&
          at < PixelOf(shown, screen.lanes.width, stretch.when.end_ns) + kLeastPick) {
        return CardOf(stretch);
      }
    }
  }
  return std::nullopt;
}

}  // namespace nanolane::desktop
