// The lanes: labels on the left, pixels of time on the right.
//
// Rows that stay in place (pinned lanes) and rows that scroll are painted alike, each kind into its
// own area. What is drawn, from below: row backgrounds and the grid; the atlas (one texture: a draw
// call for the leaf indicators, one for density); borders and names of spans wide enough to have
// them; search hits, selection, hover; the largest gap; the range being marked. UI thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/model/wide_spans.h"
#include "clients/desktop/render/lane_atlas.h"
#include "clients/desktop/view/painter.h"

namespace nanolane::desktop {

class LanesView {
 public:
  static constexpr double kLeastBorderedSpan = 5;  // pixels
  static constexpr double kLeastNamedSpan = 48;

  // Brings the atlas and the wide spans up to date with the viewer: all that is computed for a
  // frame, without drawing. Rows out of sight cost nothing.
  void Prepare(const Viewer& viewer, const Loaded& loaded, const Theme& theme);
  // `texture` is the atlas' OpenGL name.
  void Paint(Painter& painter, const Viewer& viewer, const TimelineModel& model, unsigned texture);

  LaneAtlas& atlas() { return atlas_; }
  // What of the lanes was in sight at the last Prepare().
  const LanesInSight& sight() const { return sight_; }
  // Whether the loaded events draw the strip's bars; else somebody else does.
  void SetStripFromEvents(bool from_events) { strip_from_events_ = from_events; }

 private:
  struct VisibleRow {
    size_t row = 0;  // of the layout
    double y = 0;    // on screen
    LaneAtlas::Place place;
    const std::vector<WideSpan>* spans = nullptr;
  };
  // The rows in sight that are painted into one area.
  struct Part {
    Rect area;
    std::vector<VisibleRow> rows;
  };
  struct SpansSlot {
    std::vector<WideSpan> spans;
    uint64_t version = 0;
    timeline::Window window;
    double width = 0;
  };
  void PrepareRow(const Viewer& viewer, const TimelineModel& model, bool from_tiles,
                  VisibleRow& visible);

  const std::vector<WideSpan>& WideSpansOf(const Viewer& viewer, const LaneModel& lane,
                                           const Row& row);
  const std::vector<WideSpan>& StackSpansOf(const Viewer& viewer, const Row& row);
  void PaintBackground(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                       const Part& part) const;
  void PaintAtlas(Painter& painter, const Viewer& viewer, unsigned texture, const Part& part) const;
  void PaintSpans(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                  const Part& part) const;
  void PaintStackSpans(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                       const VisibleRow& visible) const;
  void PaintGap(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                const Part& part) const;
  void PaintOutlines(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                     const Part& part) const;
  void PaintLosses(Painter& painter, const Viewer& viewer, const Part& part) const;
  void PaintBand(Painter& painter, const Viewer& viewer) const;

  LaneAtlas atlas_;
  Part scrolling_;
  Part stuck_;
  LanesInSight sight_;
  absl::node_hash_map<std::pair<size_t, uint32_t>, SpansSlot> spans_;  // VisibleRow points into it
  absl::node_hash_map<std::pair<size_t, uint32_t>, SpansSlot> stack_spans_;  // the same
  LaneAtlas::Place overview_;
  bool strip_from_events_ = true;
};

// Where a row's spans lie, from its top: [y, y + height).
struct SpanBox {
  double y = 0;
  double height = 0;
};
SpanBox SpanBoxOf(const Row& row);
// The edge at which a span begins, where that is in sight; where the span lies. `left` is that of
// the lanes.
Rect PaintSpanEdge(Painter& painter, double left, double y, double height, const WideSpan& span);

// The label column.
void PaintLaneLabels(Painter& painter, const Viewer& viewer, const TimelineModel& model);
// The strip that brings back hidden lanes, where there are some.
void PaintHiddenStrip(Painter& painter, const Viewer& viewer);
// Over everything: the menu of a lane, and where a label that is being moved would go.
void PaintLaneMenu(Painter& painter, const Viewer& viewer);
void PaintLaneMove(Painter& painter, const Viewer& viewer);
// A warning triangle in a box of kMarkSize.
void PaintLossMark(Painter& painter, const Rect& box);
// A slim bar at the right edge where there are more rows than fit.
void PaintScrollBar(Painter& painter, const Viewer& viewer);

}  // namespace nanolane::desktop
