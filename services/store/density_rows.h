// Rows of density as they lie on disk and answers are made of them.
#pragma once

#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "libs/timeline/density.h"
#include "nanolane/store/v1/disk.pb.h"
#include "services/store/store.h"

namespace nanolane::store {

v1::DensityRow ToRow(const timeline::DensityBins& bins);
timeline::DensityBins FromRow(const v1::DensityRow& row);

// Bins of many sessions, added up for one answer.
class DensityAnswer {
 public:
  // INVALID_ARGUMENT for an empty window or too many bins.
  static absl::StatusOr<DensityAnswer> Create(const v1::GetDensityRequest& request);

  // Says over which Unix times data lies, before anything is added: without a window, the answer
  // spans what was said.
  void Expect(int64_t first_ns, int64_t last_ns);
  // Of the finest layer.
  int level() const;

  bool has_window() const { return has_window_; }
  // Bins of a level from the first to the last that can show in the answer.
  std::pair<int64_t, int64_t> IndexRange(int of_level) const;

  // Adds bins of `bins_level`; those that lie in no bin of the answer are passed over.
  void Add(int bins_level, const timeline::DensityBins& bins);

  v1::GetDensityResponse Finish() const;

 private:
  DensityAnswer() = default;

  bool has_window_ = false;
  int64_t start_ns_ = 0;
  int64_t end_ns_ = 0;  // exclusive, unless no window was given
  bool expected_ = false;
  uint64_t max_bins_ = 0;
  std::map<int, timeline::DensityBins> layers_;  // by level
};

// Tells the answer where a session's data lies, if it has any.
void ExpectExtent(const v1::SessionRecord& record, DensityAnswer& answer);

}  // namespace nanolane::store
