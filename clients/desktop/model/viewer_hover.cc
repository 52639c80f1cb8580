// What lies under the mouse.
#include <algorithm>
#include <cmath>
#include <utility>

#include "clients/desktop/model/viewer.h"
#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {

const Row* Viewer::RowUnder(double x, double y) const {
  if (!screen_.lanes.Contains(x, y)) return nullptr;
  const std::optional<size_t> row = layout_.RowOnScreen(y - screen_.lanes.y, scroll_);
  return row.has_value() ? &layout_.rows()[*row] : nullptr;
}

std::optional<Hover> Viewer::Pick(const TimelineModel& model, double x, double y) const {
  const Row* row = RowUnder(x, y);
  if (row == nullptr || !HasLane(*row) || row->kind == RowKind::kMemory ||
      row->kind == RowKind::kStack) {
    return std::nullopt;
  }
  if (!model.Has(viewport_.shown())) return std::nullopt;
  const Row& hit = *row;
  const LaneModel& lane = *model.lanes()[hit.lane];
  const timeline::Window& window = viewport_.shown();
  const double width = screen_.lanes.width;
  const double at = x - screen_.lanes.x;
  const std::optional<size_t> event = lane.rows.EventAt(hit.depth, TimeUnder(x), PickSlopNs());
  if (!event.has_value()) return std::nullopt;
  const double pixel = std::floor(at * options_.device_scale) / options_.device_scale;
  const timeline::Window column{TimeAt(window, width, pixel),
                                TimeAt(window, width, pixel + 1 / options_.device_scale)};
  return Hover{{hit.lane, *event},
               static_cast<size_t>(row - layout_.rows().data()),
               hit.kind == RowKind::kNvtx ? 0 : lane.rows.Count(column)};
}

std::optional<TileHover> Viewer::PickTile(const Loaded& loaded, double x, double y) const {
  const Row* row = RowUnder(x, y);
  if (row == nullptr || !HasLane(*row) || row->kind == RowKind::kStack || loaded.tiles == nullptr ||
      loaded.model.Has(viewport_.shown())) {
    return std::nullopt;
  }
  const double scale = options_.device_scale;
  const auto width = static_cast<uint32_t>(std::lround(screen_.lanes.width * scale));
  const auto column = static_cast<uint32_t>(std::max(0.0, (x - screen_.lanes.x) * scale));
  auto spot =
      loaded.tiles->At(loaded.model.lanes()[row->lane]->facts.id, viewport_.shown(), width, column);
  if (!spot.has_value()) return std::nullopt;
  return TileHover{static_cast<size_t>(row - layout_.rows().data()), *std::move(spot)};
}

std::optional<FrameHover> Viewer::PickFrame(double x, double y) const {
  const Row* row = RowUnder(x, y);
  if (row == nullptr) return std::nullopt;
  return board_.FrameAt(layout_, static_cast<size_t>(row - layout_.rows().data()), TimeUnder(x),
                        PickSlopNs());
}

int64_t Viewer::TimeUnder(double x) const {
  return TimeAt(viewport_.shown(), screen_.lanes.width, x - screen_.lanes.x);
}

int64_t Viewer::PickSlopNs() const {
  const double share = kPickSlop / screen_.lanes.width;
  return ClampToInt64(static_cast<Wide>(share * static_cast<double>(SpanOf(viewport_.shown()))));
}

void Viewer::UpdateHover(const Loaded& loaded, const Input& input) {
  const TimelineModel& model = loaded.model;
  hover_.reset();
  level_hover_.reset();
  tile_hover_.reset();
  frame_hover_.reset();
  loss_hover_.reset();
  loss_marks_ = LossMarksOf(model, layout_);
  if (input.mouse_taken || navigator_.dragging() || viewport_.gliding()) return;
  loss_hover_ = LossCardAt(loss_marks_, layout_, screen_, scroll_, viewport_.shown(), input.mouse_x,
                           input.mouse_y);
  if (loss_hover_.has_value()) return;
  const Row* row = RowUnder(input.mouse_x, input.mouse_y);
  if (row == nullptr || row->kind != RowKind::kMemory) {
    hover_ = Pick(model, input.mouse_x, input.mouse_y);
    tile_hover_ = PickTile(loaded, input.mouse_x, input.mouse_y);
    frame_hover_ = PickFrame(input.mouse_x, input.mouse_y);
    return;
  }
  const int64_t time =
      TimeAt(viewport_.shown(), screen_.lanes.width, input.mouse_x - screen_.lanes.x);
  const std::optional<MemoryLevel> level = model.lanes()[row->lane]->rows.LevelAt(time);
  if (level.has_value()) level_hover_ = LevelHover{row->lane, time, *level};
}

}  // namespace nanolane::desktop
