// Where the hits of a search lie in the whole session: marks along the lower edge of the overview.
// The columns are computed again when hits or the strip have changed. UI thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "clients/desktop/model/viewer.h"
#include "clients/desktop/view/painter.h"

namespace nanolane::desktop {

class HitMarks {
 public:
  void Paint(Painter& painter, const Viewer& viewer, const TimelineModel& model);

 private:
  void Find(const Viewer& viewer, const TimelineModel& model, uint32_t width);

  std::vector<bool> marked_;  // by physical pixel column
  timeline::Window window_;
  uint64_t version_ = 0;
  uint64_t generation_ = 0;
};

}  // namespace nanolane::desktop
