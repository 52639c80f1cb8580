// The parts around the lanes: top bar, overview strip, ruler, status bar. Each paints its own
// rectangle of the screen from the viewer's state.
#pragma once

#include "clients/desktop/model/viewer.h"
#include "clients/desktop/view/painter.h"

namespace nanolane::desktop {

inline constexpr double kSearchWidth = 260;
inline constexpr double kLeastTickGap = 132;  // of the ruler: room for the longest label

// Brand and what is being looked at: project, host, process, time.
void PaintTopBar(Painter& painter, const Viewer& viewer, const Loaded& loaded);

// Labels, and the box of the window in sight; the plot itself comes from the lanes' atlas.
void PaintOverview(Painter& painter, const Viewer& viewer);
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

// `frame_ms`: what the last frames took.
void PaintStatusBar(Painter& painter, const Viewer& viewer, const Loaded& loaded, double frame_ms);

}  // namespace nanolane::desktop
