// What floats over the lanes or lies under them: hover card, details panel, scenes without a
// timeline, the list of keys. UI thread only.
#pragma once

#include "clients/desktop/model/notices.h"
#include "clients/desktop/model/viewer.h"
#include "clients/desktop/view/painter.h"

namespace nanolane::desktop {

// The span under the cursor, beside the cursor; kept inside the window.
void PaintHoverCard(Painter& painter, const Viewer& viewer, const TimelineModel& model,
                    const Input& input);

// The selected event; without one, which ops take the time in the window, and the session.
void PaintDetails(Painter& painter, const Viewer& viewer, const TimelineModel& model);

// Why there is no timeline, and what to do about it. Over the lanes. True: its button was pressed,
// the one that goes to the nearest data.
bool PaintScene(Painter& painter, const Viewer& viewer, const Loaded& loaded,
                std::string_view server);

// What must be told beside the timeline, as bars at the lower edge of the lanes: each can be
// dismissed and, where there is more to say, unfolded. True: the session shall be loaded again.
bool ShowNotices(const Fonts& fonts, const Theme& theme, const ScreenLayout& screen,
                 NoticeBoard& board);

void PaintKeys(Painter& painter, const ScreenLayout& screen);

// A raised box with a border and a shadow.
void PaintCard(Painter& painter, const Rect& box);

}  // namespace nanolane::desktop
