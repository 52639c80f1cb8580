#include "clients/desktop/model/opening_view.h"

#include <algorithm>
#include <vector>

#include "clients/desktop/model/viewport.h"
#include "clients/desktop/model/wide_math.h"

namespace nanolane::desktop {
namespace {

constexpr size_t kMostSamples = 1 << 18;
constexpr Wide kBulkShare = 8;

struct Extent {
  Wide start = 0;
  Wide end = 0;
  Wide span() const { return end - start; }
};

// Starts of events, all of them or an even sample.
std::vector<int64_t> SampledStarts(const TimelineModel& model) {
  size_t total = 0;
  for (const auto& lane : model.lanes()) total += lane->events.size();
  const size_t stride = total / kMostSamples + 1;
  std::vector<int64_t> starts;
  starts.reserve(total / stride + model.lanes().size());
  for (const auto& lane : model.lanes()) {
    for (size_t i = 0; i < lane->events.size(); i += stride)
      starts.push_back(lane->events.start_ns(i));
  }
  return starts;
}

// From the first start at or after `low` to the last end of what starts at or before `high`.
Extent ExtentBetween(const TimelineModel& model, Wide low, Wide high) {
  Extent extent;
  bool first = true;
  for (const auto& lane : model.lanes()) {
    for (size_t i = 0; i < lane->events.size(); ++i) {
      const Wide start = lane->events.start_ns(i);
      if (start < low || start > high) continue;
      const Wide end = std::min<Wide>(lane->events.end_ns(i), high);
      extent.start = first ? start : std::min(extent.start, start);
      extent.end = first ? end : std::max(extent.end, end);
      first = false;
    }
  }
  return extent;
}

timeline::Window Padded(Extent extent) {
  if (extent.span() < 1) extent.end = extent.start + 1'000;
  const Wide pad = extent.span() / 50;
  return {ClampToInt64(extent.start - pad), ClampToInt64(extent.end + pad)};
}

}  // namespace

timeline::Window NewestWindow(const timeline::Window& extent) {
  if (SpanOf(extent) <= kLiveSpanNs) return Padded({extent.start_ns, extent.end_ns});
  const Wide end = static_cast<Wide>(extent.end_ns) + kLiveSpanNs / Viewport::kEndRoom;
  return {ClampToInt64(end - kLiveSpanNs), ClampToInt64(end)};
}

timeline::Window UsefulWindow(const TimelineModel& model) {
  std::vector<int64_t> starts;
  const bool all_there = model.phase() == TimelineModel::Phase::kComplete ||
                         model.phase() == TimelineModel::Phase::kLive;
  if (all_there) starts = SampledStarts(model);
  if (starts.empty()) return Padded({model.extent().start_ns, model.extent().end_ns});

  const size_t trimmed = starts.size() < 20 ? 0 : std::max<size_t>(1, starts.size() / 200);
  const auto low = starts.begin() + static_cast<std::ptrdiff_t>(trimmed);
  std::nth_element(starts.begin(), low, starts.end());
  const Wide bulk_start = *low;
  const auto high = starts.end() - 1 - static_cast<std::ptrdiff_t>(trimmed);
  std::nth_element(starts.begin(), high, starts.end());
  const Wide bulk_span = std::max<Wide>(*high - bulk_start, 1'000);

  constexpr Wide kEver = std::numeric_limits<int64_t>::max();
  const Extent whole = ExtentBetween(model, -kEver - 1, kEver);
  if (whole.span() <= bulk_span * kBulkShare) return Padded(whole);
  return Padded(ExtentBetween(model, bulk_start - bulk_span, bulk_start + 2 * bulk_span));
}

}  // namespace nanolane::desktop
