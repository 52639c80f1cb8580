#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/label_boxes.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/lanes_view.h"

namespace nanolane::desktop {
namespace {

// The second, fainter line of a label: what it has on its left and on its right.
struct Note {
  std::string left;
  std::string right;
};

std::string MoreLevels(uint32_t levels) {
  return absl::StrCat(levels, levels == 1 ? " more level" : " more levels");
}

// What a lane that can be expanded has above or below its row.
std::string LevelsNote(const Viewer& viewer, const LaneModel& lane, const LaneBlock& block) {
  if (!block.expanded) return MoreLevels(block.levels);
  const bool stacks = lane.facts.lane.kind == trace::LaneKind::kStream;
  if (stacks && viewer.board().stacks().Of(block.lane) == nullptr) return "reading stacks…";
  const uint32_t levels = stacks ? block.levels : block.levels + 1;
  std::string note = absl::StrCat(levels, levels == 1 ? " level" : " levels");
  if (block.folded > 0) absl::StrAppend(&note, " · ", block.folded, " folded");
  return note;
}

Note NoteOf(const Viewer& viewer, const LaneModel& lane, const LaneBlock& block, RowKind kind) {
  Note note;
  if (kind == RowKind::kMemory) {
    const std::optional<int64_t> peak = lane.rows.held().highest();
    const char* series =
        lane.facts.lane.kind == trace::LaneKind::kMemoryDriver ? "driver" : "framework";
    note.left = peak.has_value() ? absl::StrCat("peak ", BytesText(*peak), " · ", series) : series;
  } else if (block.expandable()) {
    note.left = LevelsNote(viewer, lane, block);
  }
  // An expanded lane's note says what is folded away, and has the room alone.
  if (kind == RowKind::kStream && !block.expanded) {
    const timeline::Window& window = viewer.viewport().shown();
    const double span = static_cast<double>(SpanOf(window));
    note.right = ShareText(static_cast<double>(lane.rows.Covered(0, window)), span);
    if (note.left.empty()) note.left = std::exchange(note.right, "") + " busy";
  }
  if (block.pinned && !block.origin.empty()) {
    note.left = absl::StrCat(block.origin, " · ", note.left);
  }
  return note;
}

void PaintHeader(Painter& painter, const Row& row, double y, double width) {
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  painter.Disclosure(kLabelMargin + 3, y + row.height / 2, !row.collapsed, theme.muted);
  double x = kLabelMargin + 14;
  x += painter.Text(fonts.strong, x, y, row.height, theme.text, row.label) + 8;
  x += painter.Text(fonts.body, x, y, row.height, theme.muted, "›") + 8;
  painter.Text(fonts.strong, x, y, row.height, theme.text, row.detail, width - x - kLabelMargin);
}

// "4 threads · show API calls", over the column's edge: no lane is beside it.
void PaintApiSummary(Painter& painter, const Row& row, double y, double width, bool hovered) {
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  double x = kLabelMargin;
  x += painter.Text(fonts.small, x, y, row.height, theme.muted, absl::StrCat(row.label, " · "));
  painter.Text(fonts.small, x, y, row.height, hovered ? theme.accent : theme.text, row.detail,
               width - x - kLabelMargin);
}

void PaintBlock(Painter& painter, const Viewer& viewer, const LaneModel& lane,
                const LaneBlock& block, bool lossy) {
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  const RowLayout& layout = viewer.layout();
  const Row& own = layout.rows()[block.first_row + block.row_count - 1];
  const LabelBoxes boxes =
      BoxesOf(viewer.screen(), layout, block, viewer.scroll(), block.pinned, lossy);
  const double middle = boxes.title.y + boxes.title.height / 2;
  const std::optional<size_t>& hovered = viewer.board().hand().hovered_row();
  const bool under_mouse =
      hovered.has_value() && HasLane(layout.rows()[*hovered]) &&
      layout.rows()[*hovered].block == static_cast<size_t>(&block - layout.blocks().data());
  if (block.expandable()) {
    painter.Disclosure(boxes.disclosure_x, middle, block.expanded,
                       under_mouse ? theme.text : theme.muted);
  }
  const Note note = NoteOf(viewer, lane, block, own.kind);
  // Low labels have one line: what a lane holds beside its row stands right of the title.
  const bool two_lines = boxes.note.height > 0;
  double room = boxes.title.width;
  if (!two_lines && !note.left.empty()) {
    const double width = Painter::Width(fonts.small, note.left);
    painter.TextRight(fonts.small, boxes.title.right(), boxes.title.y, boxes.title.height,
                      theme.faint, note.left);
    room -= width + 8;
  }
  painter.Text(fonts.body, boxes.title.x, boxes.title.y, boxes.title.height, theme.text,
               block.label, room);
  if (block.pinned) {
    painter.Pin(boxes.pin.x + boxes.pin.width / 2, boxes.pin.y + boxes.pin.height / 2,
                theme.accent);
  }
  if (lossy) PaintLossMark(painter, boxes.loss);
  if (!two_lines) return;
  const Rect& line = boxes.note;
  const double right = Painter::Width(fonts.small, note.right);
  painter.TextRight(fonts.small, line.right(), line.y, line.height, theme.faint, note.right);
  painter.Text(fonts.small, line.x, line.y, line.height, theme.faint, note.left,
               line.width - (right > 0 ? right + 8 : 0));
}

// Labels of the rows that stay in place, or of those that scroll.
void PaintPart(Painter& painter, const Viewer& viewer, const TimelineModel& model, bool stuck) {
  const Theme& theme = painter.theme();
  const Rect& labels = viewer.screen().labels;
  const RowLayout& layout = viewer.layout();
  const Rect area = RowsArea(viewer.screen(), layout, stuck);
  const auto lossy = [&viewer](size_t row) {
    return std::any_of(viewer.loss_marks().begin(), viewer.loss_marks().end(),
                       [row](const LossMark& mark) { return mark.row == row; });
  };
  const auto in_sight = [&](double y, double height) {
    const double top = labels.y + layout.OnScreen(y, viewer.scroll());
    return (y < layout.stuck_height()) == stuck && top + height > area.y && top < area.bottom();
  };
  painter.Clip(area);
  for (size_t i = 0; i < layout.rows().size(); ++i) {
    const Row& row = layout.rows()[i];
    if (!in_sight(row.y, row.height)) continue;
    const double y = std::floor(labels.y + layout.OnScreen(row.y, viewer.scroll()));
    if (row.kind == RowKind::kHeader) {
      const bool lost = lossy(i);
      PaintHeader(painter, row, y, area.width - (lost ? kMarkSize + kMarkGap : 0));
      if (lost) PaintLossMark(painter, HeaderLossBox(viewer.screen(), y));
    } else if (row.kind == RowKind::kApiSummary) {
      PaintApiSummary(painter, row, y, area.width, viewer.board().hand().hovered_row() == i);
    } else {
      painter.VerticalLine(labels.right() - 1, y, y + row.height, theme.line);
    }
    if (row.ends_lane) {
      painter.HorizontalLine(labels.x, labels.right(), y + row.height - 1, theme.line);
    }
  }
  for (const LaneBlock& block : layout.blocks()) {
    if (!in_sight(block.y, block.height)) continue;
    bool lost = false;
    for (size_t row = block.first_row; row < block.first_row + block.row_count; ++row) {
      lost = lost || lossy(row);
    }
    PaintBlock(painter, viewer, *model.lanes()[block.lane], block, lost);
  }
  painter.Unclip();
}

}  // namespace

void PaintLaneLabels(Painter& painter, const Viewer& viewer, const TimelineModel& model) {
  PaintPart(painter, viewer, model, false);
  PaintPart(painter, viewer, model, true);
  const double stuck = RowsArea(viewer.screen(), viewer.layout(), true).bottom();
  if (viewer.layout().stuck_height() <= 0) return;
  // What stays ends where what scrolls begins.
  painter.Fill({0, stuck - 1, viewer.screen().lanes.right(), 2},
               Faded(painter.theme().accent, 0.5));
}

void PaintScrollBar(Painter& painter, const Viewer& viewer) {
  const Rect& lanes = viewer.screen().lanes;
  const double content = viewer.layout().height();
  if (content <= lanes.height || lanes.height < 40) return;
  const double length = std::max(24.0, lanes.height * lanes.height / content);
  const double share = viewer.scroll() / (content - lanes.height);
  const double y = std::floor(lanes.y + share * (lanes.height - length));
  painter.Fill({lanes.right() - 6, y + 2, 4, length - 4}, Faded(painter.theme().muted, 0.6), 2);
}

}  // namespace nanolane::desktop
