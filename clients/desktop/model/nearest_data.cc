#include "clients/desktop/model/nearest_data.h"

#include <algorithm>

#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

bool AnyIn(const TimelineModel& model, Wide from, Wide to) {
  const timeline::Window window{ClampToInt64(from), ClampToInt64(to)};
  if (window.end_ns <= window.start_ns) return false;
  return std::any_of(model.lanes().begin(), model.lanes().end(), [&](const auto& lane) {
    return !lane->rows.is_memory() && !lane->rows.empty() && lane->rows.Count(window) > 0;
  });
}

// The least distance in [1, most] at which `there` holds, which it does from some distance on;
// nothing where it does not even at `most`.
template <typename There>
std::optional<Wide> Least(Wide most, const There& there) {
  if (most < 1 || !there(most)) return std::nullopt;
  Wide low = 0;  // it does not hold at `low`, and does at `most`
  while (most - low > 1) {
    const Wide middle = low + (most - low) / 2;
    (there(middle) ? most : low) = middle;
  }
  return most;
}

}  // namespace

std::optional<NearestData> NearestTo(const TimelineModel& model, const timeline::Window& window) {
  const timeline::Window extent = model.extent();
  const Wide start = window.start_ns;
  const Wide end = window.end_ns;
  // Distances count the nanosecond at which something lies: 1 is beside the window.
  const std::optional<Wide> later = Least(
      extent.end_ns - end + 1, [&](Wide distance) { return AnyIn(model, end, end + distance); });
  const std::optional<Wide> earlier = Least(start - extent.start_ns + 1, [&](Wide distance) {
    return AnyIn(model, start - distance, start);
  });
  if (!later.has_value() && !earlier.has_value()) return std::nullopt;
  const bool forward = later.has_value() && (!earlier.has_value() || *later <= *earlier);
  const Wide distance = forward ? *later - 1 : *earlier - 1;
  return NearestData{.time_ns = ClampToInt64(forward ? end + distance : start - distance),
                     .distance_ns = ClampToInt64(distance),
                     .later = forward};
}

}  // namespace nanolane::desktop
