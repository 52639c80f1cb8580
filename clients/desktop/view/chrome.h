// The parts around the lanes: top bar, overview strip, ruler, status bar. Each paints its own
// rectangle of the screen from the viewer's state.
#pragma once

#include <array>
#include <optional>

#include "clients/desktop/model/scope_desk.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/view/painter.h"

namespace nanolane::desktop {

inline constexpr double kSearchWidth = 260;
inline constexpr double kLeastTickGap = 132;  // of the ruler: room for the longest label

// The mouse of one frame.
struct Pointer {
  double x = -1;
  double y = -1;
  bool pressed = false;  // the left button went down in this frame
  bool moved = false;

  bool In(const Rect& rect) const { return rect.Contains(x, y); }
};

// Where the pickers' chips lie; nothing: there was no room for it.
using ScopeChips = std::array<std::optional<Rect>, kScopePartCount>;

// Brand, what is being looked at (project, host, process, GPU, time: each opens its picker) and
// what its stream is doing.
ScopeChips PaintTopBar(Painter& painter, const Viewer& viewer, const Loaded& loaded,
                       const ScopeDesk& desk, const Pointer& pointer);

// Where data lies in the scope, what was lost, and the window in sight. Bars that the loaded events
// draw come from the lanes' atlas.
void PaintOverview(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                   const ScopeDesk& desk);
// What lies under the cursor on the strip.
void PaintOverviewCard(Painter& painter, const Viewer& viewer, const ScopeDesk& desk,
                       const Input& input);
// Where the plot lies.
Rect OverviewPlot(const ScreenLayout& screen);

void PaintRuler(Painter& painter, const Viewer& viewer, const TimelineModel& model);

// The range that is being measured: on the ruler with its exact length, and over the lanes.
void PaintMeasure(Painter& painter, const Viewer& viewer);
// Where the length stands: the ruler keeps its own labels away from there. Empty: nowhere.
Rect MeasureLabel(const Fonts& fonts, const Viewer& viewer);

// Whether the view follows the end of what is being recorded; nothing where nothing is.
void PaintLiveBadge(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                    const Input& input);

// How much of what is being loaded has come: a line along the strip's lower edge.
void PaintProgress(Painter& painter, const Viewer& viewer, const Loaded& loaded);

// `frame_ms`: what the last frames took.
void PaintStatusBar(Painter& painter, const Viewer& viewer, const Loaded& loaded, double frame_ms);

}  // namespace nanolane::desktop
