#include "clients/desktop/view/hit_marks.h"

#include <cmath>

#include "clients/desktop/view/chrome.h"

namespace nanolane::desktop {
namespace {

constexpr double kHeight = 4;

}  // namespace

void HitMarks::Paint(Painter& painter, const Viewer& viewer, const TimelineModel& model) {
  if (!viewer.hits().active()) return;
  const Rect plot = OverviewPlot(viewer.screen());
  const double scale = viewer.device_scale();
  const auto width = static_cast<uint32_t>(std::lround(plot.width * scale));
  const timeline::Window& window = viewer.overview();
  const bool fresh = marked_.size() == width && version_ == viewer.hits().version() &&
                     generation_ == model.generation() && window_.start_ns == window.start_ns &&
                     window_.end_ns == window.end_ns;
  if (!fresh) Find(viewer, model, width);
  // Neighbouring columns are one mark.
  for (uint32_t i = 0; i < width;) {
    if (!marked_[i]) {
      ++i;
      continue;
    }
    const uint32_t from = i;
    while (i < width && marked_[i]) ++i;
    painter.Fill({plot.x + from / scale, viewer.screen().overview.bottom() - kHeight - 2,
                  (i - from) / scale, kHeight},
                 painter.theme().text);
  }
}

void HitMarks::Find(const Viewer& viewer, const TimelineModel& model, uint32_t width) {
  version_ = viewer.hits().version();
  generation_ = model.generation();
  window_ = viewer.overview();
  marked_.assign(width, false);
  std::vector<timeline::PixelColumn> columns(width);
  for (size_t lane = 0; lane < model.lanes().size(); ++lane) {
    const timeline::LaneIndex* hits = viewer.hits().Of(lane);
    if (hits == nullptr) continue;
    hits->Columns(window_, columns);
    for (uint32_t i = 0; i < width; ++i) marked_[i] = marked_[i] || columns[i].present;
  }
}

}  // namespace nanolane::desktop
