// The benches' workload: the GPU events of a real training step, repeated with fresh times and
// jitter, so that no block is a copy of another.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/trace/dictionary.h"
#include "libs/trace/model.h"

namespace nanolane::bench {

struct Workload {
  trace::DictionaryBuilder dictionary;
  std::map<trace::LaneId, std::vector<trace::Event>> lanes;  // each in order of start
  size_t events = 0;
};

struct RepeatOptions {
  size_t events = 1'000'000;  // at least
  double sigma_ns = 100;      // of the jitter of start, duration and launch, each
  uint64_t seed = 1;
};

// Kernels, copies and memsets of a Kineto trace, whole repetitions of it.
absl::StatusOr<Workload> RepeatTrace(const std::string& path, const RepeatOptions& options);

// Everything that a dictionary has, as the first delta of another session: a session starts with
// none.
trace::DictionaryDelta WholeDictionary(const trace::Dictionary& from);

// Path of a file of the data folder: $NANOLANE_DATA_DIR, else the folder that CMake was told.
std::string DataFile(const std::string& name);

}  // namespace nanolane::bench
