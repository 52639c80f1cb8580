// The legend is the filter: a click on an entry hides or shows what it stands for, alt and a click
// or a double click shows it alone, "all" shows everything. It lies under the last row, or at the
// lower edge of the lanes where there are more rows than fit. UI thread only.
#pragma once

#include "clients/desktop/model/viewer.h"
#include "clients/desktop/view/painter.h"

namespace nanolane::desktop {

void PaintLegend(const Painter& below, Viewer& viewer, const TimelineModel& model,
                 const Input& input);

// The entry's colour; none for entries without one.
Rgba ColorOf(const Theme& theme, const LegendEntry& entry);

}  // namespace nanolane::desktop
