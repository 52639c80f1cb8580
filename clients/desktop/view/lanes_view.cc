#include "clients/desktop/view/lanes_view.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "clients/desktop/model/label_boxes.h"
#include "clients/desktop/model/quantity_text.h"
#include "clients/desktop/model/ruler.h"
#include "clients/desktop/model/wide_math.h"
#include "clients/desktop/view/chrome.h"

namespace nanolane::desktop {
namespace {

constexpr double kStreamTop = (kStreamHeight - kLeafHeight - kLeafGap - 30) / 2;

ImVec2 At(double x, double y) { return {static_cast<float>(x), static_cast<float>(y)}; }

void AddTexels(ImDrawList& list, unsigned texture, const LaneAtlas& atlas, const Rect& box,
               uint32_t first, uint32_t count) {
  const auto height = static_cast<float>(atlas.height());
  const ImVec2 from(0, static_cast<float>(first) / height);
  const ImVec2 to(1, static_cast<float>(first + count) / height);
  // ImGui's texture ids are pointers; the OpenGL backend reads names out of them.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  list.AddImage(reinterpret_cast<ImTextureID>(static_cast<uintptr_t>(texture)), At(box.x, box.y),
                At(box.right(), box.bottom()), from, to);
}

bool Same(const timeline::Window& a, const timeline::Window& b) {
  return a.start_ns == b.start_ns && a.end_ns == b.end_ns;
}

}  // namespace

SpanBox SpanBoxOf(const Row& row) {
  switch (row.kind) {
    case RowKind::kHeader:
    case RowKind::kApiSummary: return {0, row.height};
    case RowKind::kStream: return {kStreamTop + kLeafHeight + kLeafGap, 30};
    case RowKind::kSync: return {5, 14};
    case RowKind::kNvtx: return {row.depth == 0 ? 4.0 : 0.0, 18};
    case RowKind::kApi: return {4, 16};
    case RowKind::kStack: return {(row.depth == 0 ? kStackMargin : 0) + 1, kStackHeight - 2};
    case RowKind::kMemory: return {4, kMemoryPlotHeight};
  }
  return {0, row.height};
}

void LanesView::Prepare(const Viewer& viewer, const Loaded& loaded, const Theme& theme) {
  const TimelineModel& model = loaded.model;
  const Rect& lanes = viewer.screen().lanes;
  const RowLayout& layout = viewer.layout();
  const double scale = viewer.device_scale();
  const auto width = static_cast<uint32_t>(std::lround(lanes.width * scale));
  scrolling_.rows.clear();
  stuck_.rows.clear();
  sight_ = {.window = viewer.viewport().shown(),
            .heading_to = viewer.viewport().target(),
            .overview = viewer.session_overview(),
            .width = width,
            .lanes = {}};
  if (width == 0 || model.sessions().empty()) return;
  const TileFrames* tiles = model.Has(sight_.window) ? nullptr : loaded.tiles;
  atlas_.Begin(sight_.window, width, scale, theme.row_style(), tiles);
  overview_ = {};
  if (strip_from_events_) {
    overview_ = atlas_.PaintOverview(
        model, viewer.overview(),
        static_cast<uint32_t>(std::lround(OverviewPlot(viewer.screen()).height * scale)),
        model.is_part() ? loaded.tiles : nullptr);
  }
  scrolling_.area = RowsArea(viewer.screen(), layout, false);
  stuck_.area = RowsArea(viewer.screen(), layout, true);
  for (size_t i = 0; i < layout.rows().size(); ++i) {
    const Row& row = layout.rows()[i];
    Part& part = row.y < layout.stuck_height() ? stuck_ : scrolling_;
    const double y = lanes.y + layout.OnScreen(row.y, viewer.scroll());
    if (y + row.height <= part.area.y || y >= part.area.bottom()) continue;
    VisibleRow visible{.row = i, .y = std::floor(y), .place = {}};
    if (HasLane(row)) PrepareRow(viewer, model, tiles != nullptr, visible);
    part.rows.push_back(visible);
  }
}

void LanesView::PrepareRow(const Viewer& viewer, const TimelineModel& model, bool from_tiles,
                           VisibleRow& visible) {
  const Row& row = viewer.layout().rows()[visible.row];
  if (row.kind == RowKind::kStack) {
    const LaneStacks& stacks = viewer.board().stacks();
    visible.place = atlas_.PaintStack(stacks.Of(row.lane), stacks.version(row.lane), row);
    visible.spans = &StackSpansOf(viewer, row);
    return;
  }
  const LaneModel& lane = *model.lanes()[row.lane];
  visible.place = atlas_.Paint(lane, row, viewer.hits(), viewer.filtered());
  if (sight_.lanes.empty() || sight_.lanes.back() != row.lane) sight_.lanes.push_back(row.lane);
  const bool has_spans = row.kind != RowKind::kMemory && !from_tiles;
  if (has_spans) visible.spans = &WideSpansOf(viewer, lane, row);
}

const std::vector<WideSpan>& LanesView::WideSpansOf(const Viewer& viewer, const LaneModel& lane,
                                                    const Row& row) {
  SpansSlot& slot = spans_[{row.lane, row.depth}];
  const timeline::Window& window = viewer.viewport().shown();
  const double width = viewer.screen().lanes.width;
  if (slot.version == lane.version && slot.width == width && Same(slot.window, window)) {
    return slot.spans;
  }
  slot.spans =
      FindWideSpans(lane, row.depth, window, width, kLeastBorderedSpan, atlas_.ColumnsOf(row));
  slot.version = lane.version;
  slot.window = window;
  slot.width = width;
  return slot.spans;
}

void LanesView::Paint(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                      unsigned texture) {
  const Rect& lanes = viewer.screen().lanes;
  if (overview_.count > 0 && !viewer.layout().rows().empty()) {
    AddTexels(painter.list(), texture, atlas_, OverviewPlot(viewer.screen()), overview_.first,
              overview_.count);
  }
  for (const Part* part : {&scrolling_, &stuck_}) {
    painter.Clip({lanes.x, part->area.y, lanes.width, part->area.height});
    PaintBackground(painter, viewer, model, *part);
    PaintGap(painter, viewer, model, *part);
    PaintAtlas(painter, viewer, texture, *part);
    PaintSpans(painter, viewer, model, *part);
    PaintLosses(painter, viewer, *part);
    PaintOutlines(painter, viewer, model, *part);
    painter.Unclip();
  }
  painter.Clip(lanes);
  PaintBand(painter, viewer);
  painter.Unclip();
}

void LanesView::PaintBackground(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                                const Part& part) const {
  const Theme& theme = painter.theme();
  const Rect& lanes = viewer.screen().lanes;
  const std::vector<RulerTick> ticks =
      RulerTicks(viewer.viewport().shown(), lanes.width, kLeastTickGap, model.origin_ns());
  for (const VisibleRow& visible : part.rows) {
    const Row& row = viewer.layout().rows()[visible.row];
    const double bottom = visible.y + row.height;
    if (row.kind != RowKind::kHeader) {
      for (const RulerTick& tick : ticks) {
        painter.VerticalLine(std::floor(lanes.x + tick.x), visible.y, bottom, theme.line);
      }
    }
    if (row.ends_lane) painter.HorizontalLine(lanes.x, lanes.right(), bottom - 1, theme.line);
  }
}

void LanesView::PaintAtlas(Painter& painter, const Viewer& viewer, unsigned texture,
                           const Part& part) const {
  if (atlas_.width() == 0) return;
  const Rect& lanes = viewer.screen().lanes;
  ImDrawList& list = painter.list();
  for (const VisibleRow& visible : part.rows) {
    if (viewer.layout().rows()[visible.row].kind != RowKind::kStream) continue;
    AddTexels(list, texture, atlas_, {lanes.x, visible.y + kStreamTop, lanes.width, kLeafHeight},
              visible.place.first, 1);
  }
  for (const VisibleRow& visible : part.rows) {
    const Row& row = viewer.layout().rows()[visible.row];
    if (!HasLane(row)) continue;
    const SpanBox box = SpanBoxOf(row);
    const uint32_t skip = row.kind == RowKind::kStream ? 1 : 0;
    AddTexels(list, texture, atlas_, {lanes.x, visible.y + box.y, lanes.width, box.height},
              visible.place.first + skip, visible.place.count - skip);
  }
}

Rect PaintSpanEdge(Painter& painter, double left, double y, double height, const WideSpan& span) {
  const Rect place{left + span.x0, y, span.x1 - span.x0, height};
  if (span.starts_inside) {
    painter.VerticalLine(std::floor(place.x), y, place.bottom(),
                         Faded(painter.theme().span_edge, 0.75));
  }
  return place;
}

void LanesView::PaintSpans(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                           const Part& part) const {
  const Theme& theme = painter.theme();
  const double left = viewer.screen().lanes.x;
  const NameSearch& search = viewer.search();
  for (const VisibleRow& visible : part.rows) {
    if (visible.spans == nullptr) continue;
    const Row& row = viewer.layout().rows()[visible.row];
    if (row.kind == RowKind::kStack) {
      PaintStackSpans(painter, viewer, model, visible);
      continue;
    }
    const EventStore& events = model.lanes()[row.lane]->events;
    const SpanBox box = SpanBoxOf(row);
    const double y = visible.y + box.y;
    for (const WideSpan& span : *visible.spans) {
      const Rect place = PaintSpanEdge(painter, left, y, box.height, span);
      const NameId name = events.name(span.event);
      Rgba ink = row.kind == RowKind::kNvtx ? theme.text : theme.on_span;
      const EventRef event{row.lane, span.event};
      const bool dim = (search.active() && !viewer.hits().Has(event)) ||
                       (viewer.filtered().active() && !viewer.filtered().Shows(model, event));
      if (dim && row.kind != RowKind::kNvtx) ink = theme.muted;
      if (place.width < kLeastNamedSpan) continue;
      painter.Text(painter.fonts().small, place.x + 6, y, box.height, dim ? Faded(ink, 0.7) : ink,
                   model.names().Short(name), place.width - 12);
    }
  }
}

void LanesView::PaintGap(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                         const Part& part) const {
  const std::optional<Gap>& gap = viewer.figures().largest_gap;
  if (!gap.has_value() || gap->lane >= model.lanes().size()) return;
  const Rect& lanes = viewer.screen().lanes;
  const timeline::Window& window = viewer.viewport().shown();
  const double from = PixelOf(window, lanes.width, gap->start_ns);
  const double to = PixelOf(window, lanes.width, gap->end_ns);
  if (to - from < lanes.width / 12 || to < 0 || from > lanes.width) return;
  // From the GPU's header to its last row.
  const LaneFacts& facts = model.lanes()[gap->lane]->facts;
  double top = lanes.bottom();
  double bottom = lanes.y;
  for (const VisibleRow& visible : part.rows) {
    const Row& row = viewer.layout().rows()[visible.row];
    if (!HasLane(row)) continue;
    const LaneFacts& others = model.lanes()[row.lane]->facts;
    const bool same_gpu =
        others.session == facts.session &&
        (others.lane.gpu_index == facts.lane.gpu_index || others.lane.gpu_index < 0);
    if (!same_gpu) continue;
    top = std::min(top, visible.y);
    bottom = std::max(bottom, visible.y + row.height);
  }
  bottom = std::min(bottom, part.area.bottom());
  if (bottom <= top) return;
  const Theme& theme = painter.theme();
  const double x0 = lanes.x + std::max(from, 0.0);
  const double x1 = lanes.x + std::min(to, lanes.width);
  painter.Fill({x0, top, x1 - x0, bottom - top}, Faded(theme.warning, 0.07));
  if (from >= 0) painter.DashedVertical(std::floor(x0), top, bottom, Faded(theme.warning, 0.8));
  if (to <= lanes.width)
    painter.DashedVertical(std::floor(x1) - 1, top, bottom, Faded(theme.warning, 0.8));
  if (&part == &stuck_) return;  // it is said once
  painter.Text(painter.fonts().number, x0 + 8, bottom - 20, 16, theme.warning,
               absl::StrCat("↔ ", ExactTime(gap->length()), " idle"), x1 - x0 - 16);
}

void LanesView::PaintOutlines(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                              const Part& part) const {
  const Theme& theme = painter.theme();
  const Rect& lanes = viewer.screen().lanes;
  const timeline::Window& window = viewer.viewport().shown();
  const auto frame = [&](const VisibleRow& visible, const timeline::Window& span, Rgba color,
                         double thickness) {
    const SpanBox box = SpanBoxOf(viewer.layout().rows()[visible.row]);
    double x0 = std::floor(lanes.x + std::max(PixelOf(window, lanes.width, span.start_ns), -8.0));
    double x1 =
        std::ceil(lanes.x + std::min(PixelOf(window, lanes.width, span.end_ns), lanes.width + 8));
    if (x1 - x0 < 5) {  // a span narrower than its own outline
      x0 -= 2;
      x1 = x0 + 5;
    }
    painter.Frame({x0, visible.y + box.y - 1, x1 - x0, box.height + 2}, color, 1, thickness);
  };
  const auto outline = [&](const EventRef& ref, Rgba color, double thickness) {
    for (const VisibleRow& visible : part.rows) {
      const Row& row = viewer.layout().rows()[visible.row];
      if (!HasLane(row) || row.kind == RowKind::kStack || row.lane != ref.lane) continue;
      const LaneModel& lane = *model.lanes()[row.lane];
      if (lane.rows.DepthOf(ref.event) != row.depth) continue;
      frame(visible, {lane.events.start_ns(ref.event), lane.events.end_ns(ref.event)}, color,
            thickness);
    }
  };
  if (viewer.selection().has_value()) outline(*viewer.selection(), theme.text, 2);
  if (viewer.hover().has_value()) outline(viewer.hover()->event, theme.text, 1);
  const std::optional<FrameHover>& hovered = viewer.frame_hover();
  if (!hovered.has_value()) return;
  for (const VisibleRow& visible : part.rows) {
    if (visible.row != hovered->row) continue;
    const StackSpan& span = viewer.board().SpanOf(*hovered);
    frame(visible, {span.start_ns, span.end_ns}, theme.text, 1);
  }
}

void LanesView::PaintBand(Painter& painter, const Viewer& viewer) const {
  const std::optional<Band> band = viewer.navigator().band();
  if (!band.has_value() || viewer.navigator().on_overview()) return;
  const Theme& theme = painter.theme();
  const Rect& lanes = viewer.screen().lanes;
  const timeline::Window& window = viewer.viewport().shown();
  const Rect box{lanes.x + band->from, lanes.y, band->to - band->from, lanes.height};
  painter.Fill(box, Faded(theme.accent, 0.10));
  painter.VerticalLine(box.x, box.y, box.bottom(), theme.accent);
  painter.VerticalLine(box.right() - 1, box.y, box.bottom(), theme.accent);
  const int64_t span =
      TimeAt(window, lanes.width, band->to) - TimeAt(window, lanes.width, band->from);
  painter.Text(painter.fonts().number, box.x + 6, lanes.y + 4, 16, theme.accent, ExactTime(span),
               box.width - 12);
}

}  // namespace nanolane::desktop
