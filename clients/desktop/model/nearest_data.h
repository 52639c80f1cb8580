// Where to go from a window in which nothing lies.
#pragma once

#include <cstdint>
#include <optional>

#include "clients/desktop/model/timeline_model.h"
#include "libs/timeline/columns.h"

namespace nanolane::desktop {

struct NearestData {
  int64_t time_ns = 0;      // where data begins (later) or ends (earlier)
  int64_t distance_ns = 0;  // from the window's edge
  bool later = false;
};

// The nearest event to `window`, in which none lies; nothing where the model has none. The later
// one of two at the same distance. O(lanes · log(span) · log(events)).
std::optional<NearestData> NearestTo(const TimelineModel& model, const timeline::Window& window);

}  // namespace nanolane::desktop
