#include "services/store/density_rows.h"

#include <algorithm>
#include <limits>

#include "libs/base/str_cat.h"
#include "libs/timeline/columns.h"
#include "libs/trace/wire.h"

namespace nanolane::store {
namespace {

using timeline::DensityBin;
using timeline::DensityBins;
using timeline::DensityPyramid;

constexpr uint32_t kDefaultBins = 1'024;
constexpr uint32_t kMostBins = 65'536;

void SetBin(int64_t index, const DensityBin& bin, trace::v1::DensityBin& to) {
  to.set_index(index);
  to.set_losses(bin.losses);
  for (size_t i = 0; i < bin.kinds.size(); ++i) {
    if (bin.kinds[i].events == 0 && bin.kinds[i].busy_ns == 0) continue;
    trace::v1::DensityCell& cell = *to.add_cells();
    cell.set_kind(trace::ToProto(static_cast<trace::EventKind>(i)));
    cell.set_events(bin.kinds[i].events);
    cell.set_busy_ns(bin.kinds[i].busy_ns);
  }
}

// How many bins of a level the times from `first` to `last` reach into, less one.
uint64_t BinsBetween(int64_t first_ns, int64_t last_ns, int level) {
  return static_cast<uint64_t>((last_ns >> level) - (first_ns >> level));
}

int64_t Saturated(timeline::Wide value) {
  constexpr timeline::Wide kMin = std::numeric_limits<int64_t>::min();
  constexpr timeline::Wide kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(value, kMin, kMax));
}

}  // namespace

v1::DensityRow ToRow(const DensityBins& bins) {
  v1::DensityRow row;
  for (const auto& [index, bin] : bins) SetBin(index, bin, *row.add_bins());
  return row;
}

DensityBins FromRow(const v1::DensityRow& row) {
  DensityBins bins;
  for (const trace::v1::DensityBin& from : row.bins()) {
    DensityBin& bin = bins[from.index()];
    bin.losses = from.losses();
    for (const trace::v1::DensityCell& cell : from.cells()) {
      bin.kinds[static_cast<size_t>(trace::FromProto(cell.kind()))] = {.events = cell.events(),
                                                                       .busy_ns = cell.busy_ns()};
    }
  }
  return bins;
}

absl::StatusOr<DensityAnswer> DensityAnswer::Create(const v1::GetDensityRequest& request) {
  if (request.max_bins() > kMostBins) {
    return absl::InvalidArgumentError(
        base::StrCat("max_bins ", request.max_bins(), " is over ", kMostBins, "; ask for fewer"));
  }
  DensityAnswer answer;
  answer.max_bins_ = request.max_bins() == 0 ? kDefaultBins : request.max_bins();
  if (!request.has_window()) return answer;
  answer.has_window_ = true;
  answer.start_ns_ = request.window().start_ns();
  answer.end_ns_ = request.window().end_ns();
  if (answer.end_ns_ > answer.start_ns_) return answer;
  return absl::InvalidArgumentError("the window is empty: its end must be after its start");
}

void DensityAnswer::Expect(int64_t first_ns, int64_t last_ns) {
  if (has_window_) return;
  start_ns_ = expected_ ? std::min(start_ns_, first_ns) : first_ns;
  end_ns_ = expected_ ? std::max(end_ns_, last_ns) : last_ns;
  expected_ = true;
}

int DensityAnswer::level() const {
  const int64_t last = has_window_ ? end_ns_ - 1 : end_ns_;
  int level = DensityPyramid::kFinestLevel;
  // Times before and after 1970 are never in one bin: two are the fewest for them.
  while (level < DensityPyramid::kCoarsestLevel &&
         BinsBetween(start_ns_, last, level) >= max_bins_) {
    ++level;
  }
  return level;
}

void DensityAnswer::Add(int bins_level, const DensityBins& bins) {
  const int to_level = std::max(level(), bins_level);
  DensityBins& layer = layers_[to_level];
  const auto [first, last] = IndexRange(to_level);
  for (const auto& [index, bin] : bins) {
    const int64_t to = index >> (to_level - bins_level);
    if (first <= to && to <= last) layer[to].Add(bin);
  }
}

std::pair<int64_t, int64_t> DensityAnswer::IndexRange(int of_level) const {
  if (!has_window_) {
    return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
  return {start_ns_ >> of_level, (end_ns_ - 1) >> of_level};
}

v1::GetDensityResponse DensityAnswer::Finish() const {
  v1::GetDensityResponse response;
  const int wanted = level();
  if (!layers_.contains(wanted)) {
    response.add_layers()->set_level(static_cast<uint32_t>(wanted));
  }
  for (const auto& [layer_level, bins] : layers_) {
    trace::v1::DensityLayer& layer = *response.add_layers();
    layer.set_level(static_cast<uint32_t>(layer_level));
    for (const auto& [index, bin] : bins) SetBin(index, bin, *layer.add_bins());
  }
  return response;
}

void ExpectExtent(const v1::SessionRecord& record, DensityAnswer& answer) {
  if (record.summary().events() == 0) return;
  const timeline::Wide offset = record.density_offset_ns();
  answer.Expect(Saturated(offset + record.summary().start_ns()),
                Saturated(offset + record.summary().end_ns()));
}

}  // namespace nanolane::store
