// Readings of both clocks over a session, thinned out evenly so that there are at most kMaxPairs.
// Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nanolane/trace/v1/trace.pb.h"
#include "services/collector/inject/wire.h"

namespace nanolane::collector {

class ClockPairs {
 public:
  static constexpr size_t kMaxPairs = 1000;

  void Add(const inject::wire::ClockFact& fact);
  // Offset by the first reading; nothing where there is none.
  void Fill(nanolane::trace::v1::ClockFacts& facts) const;

 private:
  struct Pair {
    int64_t session_ns = 0;
    int64_t unix_ns = 0;
  };

  std::vector<Pair> pairs_;  // every stride_-th reading, the first among them
  uint64_t stride_ = 1;
  uint64_t seen_ = 0;
};

}  // namespace nanolane::collector
