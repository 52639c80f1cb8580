// The lanes: labels on the left, pixels of time on the right.
//
// What is drawn, from below: row backgrounds and the grid; the atlas (one texture: a draw call for
// the leaf indicators, one for density); borders and names of spans wide enough to have them;
// search hits, selection, hover; the largest gap; the range being marked. UI thread only.
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
  void Prepare(const Viewer& viewer, const TimelineModel& model, const Theme& theme);
  // `texture` is the atlas' OpenGL name.
  void Paint(Painter& painter, const Viewer& viewer, const TimelineModel& model, unsigned texture);

  LaneAtlas& atlas() { return atlas_; }

 private:
  struct VisibleRow {
    size_t row = 0;  // of the layout
    double y = 0;    // on screen
    LaneAtlas::Place place;
    const std::vector<WideSpan>* spans = nullptr;
  };
  struct SpansSlot {
    std::vector<WideSpan> spans;
    uint64_t version = 0;
    timeline::Window window;
    double width = 0;
  };

  const std::vector<WideSpan>& WideSpansOf(const Viewer& viewer, const LaneModel& lane,
                                           const Row& row);
  void PaintBackground(Painter& painter, const Viewer& viewer, const TimelineModel& model);
  void PaintAtlas(Painter& painter, const Viewer& viewer, unsigned texture) const;
  void PaintSpans(Painter& painter, const Viewer& viewer, const TimelineModel& model) const;
  void PaintGap(Painter& painter, const Viewer& viewer, const TimelineModel& model) const;
  void PaintMarks(Painter& painter, const Viewer& viewer, const TimelineModel& model) const;

  LaneAtlas atlas_;
  std::vector<VisibleRow> visible_;
  absl::node_hash_map<std::pair<size_t, uint32_t>, SpansSlot> spans_;  // VisibleRow points into it
  LaneAtlas::Place overview_;
};

// Where a row's spans lie, from its top: [y, y + height).
struct SpanBox {
  double y = 0;
  double height = 0;
};
SpanBox SpanBoxOf(const Row& row);

// The label column.
void PaintLaneLabels(Painter& painter, const Viewer& viewer, const TimelineModel& model);
// A slim bar at the right edge where there are more rows than fit.
void PaintScrollBar(Painter& painter, const Viewer& viewer);

}  // namespace nanolane::desktop
