#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/lanes_view.h"

namespace nanolane::desktop {
namespace {

constexpr double kLabelX = 14;

// The second, fainter line of a label; empty for rows too low to have one.
std::string NoteOf(const Viewer& viewer, const LaneModel& lane, const Row& row) {
  if (row.kind == RowKind::kMemory) {
    const std::optional<int64_t> peak = lane.rows.held().highest();
    const char* series =
        lane.facts.lane.kind == trace::LaneKind::kMemoryDriver ? "driver" : "framework";
    return peak.has_value() ? absl::StrCat("peak ", BytesText(*peak), " · ", series) : series;
  }
  if (row.kind != RowKind::kStream) return "";
  const timeline::Window& window = viewer.viewport().shown();
  const double span = static_cast<double>(SpanOf(window));
  return absl::StrCat(ShareText(static_cast<double>(lane.rows.Covered(0, window)), span), " busy");
}

void PaintHeader(Painter& painter, const Row& row, double y, double width) {
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  painter.Disclosure(kLabelX + 3, y + row.height / 2, !row.collapsed, theme.muted);
  double x = kLabelX + 14;
  x += painter.Text(fonts.strong, x, y, row.height, theme.text, row.label) + 8;
  x += painter.Text(fonts.body, x, y, row.height, theme.muted, "›") + 8;
  painter.Text(fonts.strong, x, y, row.height, theme.text, row.detail, width - x - kLabelX);
}

void PaintLabel(Painter& painter, const Viewer& viewer, const LaneModel& lane, const Row& row,
                double y) {
  const Theme& theme = painter.theme();
  const Fonts& fonts = painter.fonts();
  const double room = kLabelWidth - 2 * kLabelX;
  const std::string note = NoteOf(viewer, lane, row);
  if (note.empty()) {
    painter.Text(fonts.body, kLabelX, y, row.height, theme.text, row.label, room);
    return;
  }
  const double top = y + std::floor((row.height - 32) / 2);
  painter.Text(fonts.body, kLabelX, top, 16, theme.text, row.label, room);
  painter.Text(fonts.small, kLabelX, top + 16, 16, theme.faint, note, room);
}

}  // namespace

void PaintLaneLabels(Painter& painter, const Viewer& viewer, const TimelineModel& model) {
  const Theme& theme = painter.theme();
  const Rect& labels = viewer.screen().labels;
  const double width = viewer.screen().lanes.right();
  painter.Clip({labels.x, labels.y, width, labels.height});
  for (const Row& row : viewer.layout().rows()) {
    const double y = std::floor(labels.y + row.y - viewer.scroll());
    if (y + row.height <= labels.y || y >= labels.bottom()) continue;
    if (row.kind == RowKind::kHeader) {
      PaintHeader(painter, row, y, width);
    } else {
      PaintLabel(painter, viewer, *model.lanes()[row.lane], row, y);
    }
    if (row.ends_lane) {
      painter.HorizontalLine(labels.x, labels.right(), y + row.height - 1, theme.line);
    }
    if (row.kind != RowKind::kHeader) {
      painter.VerticalLine(labels.right() - 1, y, y + row.height, theme.line);
    }
  }
  painter.Unclip();
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
