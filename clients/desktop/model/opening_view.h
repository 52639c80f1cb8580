// The window that shows "everything" usefully: what "fit" and the opening view use.
//
// One event far away from the rest (a zero among epoch times, a warm-up hours earlier) would leave
// the rest in a single pixel. So the fit is the whole extent only where the bulk of the events (all
// but half a percent at each end) takes at least an eighth of it; else it is the bulk and whatever
// lies within one more width of it.
//
// A session that is being recorded opens on its newest part, so that what happens is seen to
// happen.
#pragma once

#include "clients/desktop/model/timeline_model.h"

namespace nanolane::desktop {

inline constexpr int64_t kLiveSpanNs = 10'000'000'000;

// The last kLiveSpanNs of what there is, or all of it, with a little room at the edges. O(1).
timeline::Window NewestWindow(const timeline::Window& extent);

// With 2 % of room at each side. While the stream is still coming: the extent that the sessions
// announced. O(events) when complete; for opening and for the fit key, not for every frame.
timeline::Window UsefulWindow(const TimelineModel& model);

}  // namespace nanolane::desktop
