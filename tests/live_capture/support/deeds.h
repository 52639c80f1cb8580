// What a simulated program did, read from its truth file (tests/simulated_gpu/program/truth.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nanolane::testing {

struct Deed {
  std::string call;
  std::string name;
  std::string domain;
  int64_t before_ns = 0;
  int64_t after_ns = 0;
  uint64_t thread = 0;
  uint64_t correlation = 0;
  int32_t device = -1;
  int64_t stream = -1;
  int64_t bytes = 0;
  uint64_t count = 1;
  int32_t result = 0;
};

std::vector<Deed> ReadDeeds(const std::string& path);

}  // namespace nanolane::testing
