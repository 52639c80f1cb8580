// What lies on the lanes beside their events: the frames above a stream, and losses.

#include <algorithm>
#include <cmath>

#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/lanes_view.h"

namespace nanolane::desktop {

const std::vector<WideSpan>& LanesView::StackSpansOf(const Viewer& viewer, const Row& row) {
  const LaneStacks& stacks = viewer.board().stacks();
  const StackLevels* levels = stacks.Of(row.lane);
  SpansSlot& slot = stack_spans_[{row.lane, row.depth}];
  const timeline::Window& window = viewer.viewport().shown();
  const double width = viewer.screen().lanes.width;
  const uint64_t version = stacks.version(row.lane);
  if (slot.version == version && slot.width == width && slot.window.start_ns == window.start_ns &&
      slot.window.end_ns == window.end_ns) {
    return slot.spans;
  }
  slot.spans.clear();
  if (levels != nullptr && row.depth < levels->size()) {
    const timeline::LaneIndex& index = levels->index(row.depth);
    const std::vector<StackSpan>& spans = levels->spans(row.depth);
    const SpanSource source{.at = [&index](int64_t time_ns) { return index.EventAt(time_ns, 0); },
                            .extent =
                                [&spans](size_t span) {
                                  return timeline::Window{spans[span].start_ns, spans[span].end_ns};
                                }};
    slot.spans = FindWideSpans(source, window, width, kLeastBorderedSpan, atlas_.ColumnsOf(row));
  }
  slot.version = version;
  slot.window = window;
  slot.width = width;
  return slot.spans;
}

void LanesView::PaintStackSpans(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                                const VisibleRow& visible) const {
  const Theme& theme = painter.theme();
  const LaneStacks& stacks = viewer.board().stacks();
  const Row& row = viewer.layout().rows()[visible.row];
  const StackLevels* levels = stacks.Of(row.lane);
  if (levels == nullptr || row.depth >= levels->size()) return;
  const double left = viewer.screen().lanes.x;
  const SpanBox box = SpanBoxOf(row);
  const double y = visible.y + box.y;
  for (const WideSpan& span : *visible.spans) {
    const Rect place = PaintSpanEdge(painter, left, y, box.height, span);
    if (place.width < kLeastNamedSpan) continue;
    painter.Text(painter.fonts().small, place.x + 6, y, box.height, theme.text,
                 FrameName(model, stacks, levels->spans(row.depth)[span.event].node),
                 place.width - 12);
  }
}

void LanesView::PaintLosses(Painter& painter, const Viewer& viewer, const Part& part) const {
  const Theme& theme = painter.theme();
  const Rect& lanes = viewer.screen().lanes;
  const timeline::Window& window = viewer.viewport().shown();
  for (const LossMark& mark : viewer.loss_marks()) {
    const auto visible =
        std::find_if(part.rows.begin(), part.rows.end(),
                     [&mark](const VisibleRow& row) { return row.row == mark.row; });
    if (visible == part.rows.end()) continue;
    const Row& row = viewer.layout().rows()[mark.row];
    for (const LossMark::Stretch& stretch : mark.stretches) {
      const double from = PixelOf(window, lanes.width, stretch.when.start_ns);
      const double to = PixelOf(window, lanes.width, stretch.when.end_ns);
      if (to < 0 || from > lanes.width) continue;
      const double x0 = lanes.x + std::max(from, 0.0);
      const double x1 = std::max(lanes.x + std::min(to, lanes.width), x0 + 3);
      painter.Hatch({x0, visible->y + 1, x1 - x0, row.height - 2}, Faded(theme.warning, 0.55));
    }
  }
}

}  // namespace nanolane::desktop
