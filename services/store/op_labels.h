// What ops are called, for tiles: the category and the name of each op of an epoch, kept in memory
// for the sessions asked about last, because every question needs all of it.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/base/mutex.h"
#include "libs/trace/kinds.h"
#include "nanolane/trace/v1/trace.pb.h"

namespace nanolane::store {

struct OpLabel {
  trace::Category category = trace::Category::kOtherKernel;
  uint32_t name = 0;  // index into EpochLabels::names
};

struct EpochLabels {
  std::vector<OpLabel> ops;        // [op]; 0 is the null op
  std::vector<std::string> names;  // in the order in which ops have them first

  size_t Bytes() const;
};

// From a dictionary's ops 1, 2, … and strings 1, 2, …
EpochLabels LabelsOf(const nanolane::trace::v1::DictionaryDelta& dictionary);

// An epoch of a session, as it was at one time: a session that is deleted and written anew is
// another one, with other ops.
struct EpochOfSession {
  std::string session_id;
  int64_t created_unix_ns = 0;
  uint64_t epoch = 0;

  bool operator==(const EpochOfSession&) const = default;
};

class OpLabels {
 public:
  using Load = std::function<absl::StatusOr<EpochLabels>()>;

  // The labels of ops 1 … `ops` of an epoch, loaded unless they are kept.
  absl::StatusOr<std::shared_ptr<const EpochLabels>> Of(const EpochOfSession& epoch, uint32_t ops,
                                                        const Load& load);
  void Forget(const std::string& session_id);

 private:
  static constexpr size_t kMostBytes = 24 << 20;

  struct Kept {
    EpochOfSession epoch;
    // Shared with answers that are being made of it while it is replaced.
    std::shared_ptr<const EpochLabels> labels;
  };

  base::Mutex mutex_;
  std::list<Kept> kept_ ABSL_GUARDED_BY(mutex_);  // most recent first
};

}  // namespace nanolane::store
