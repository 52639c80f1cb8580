// A big Chrome trace in the shape of a training run's, written as a stream.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace nanolane::bench {

// Writes about `bytes` bytes of JSON: steps of host frames, operators, calls, kernels, copies,
// flow arrows and memory instants, in the file order of PyTorch's profiler (all host spans first,
// then calls with their device work), times shifted and correlation ids fresh in each step. Returns
// the number of steps.
absl::StatusOr<uint64_t> WriteSyntheticTrace(const std::string& path, uint64_t bytes);

}  // namespace nanolane::bench
