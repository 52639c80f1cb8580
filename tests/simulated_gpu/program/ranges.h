// NVTX as real programs use it: NVTX's own headers, which load $NVTX_INJECTION64_PATH at the first
// call. Built without those headers, every function returns false. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace nanolane::sim::ranges {

struct RangeOptions {
  std::string text;
  std::string domain;  // empty: the default one
  uint32_t color = 0;  // ARGB; 0: none
  uint32_t category = 0;
};

bool Push(const RangeOptions& options);
bool Pop(const std::string& domain);
bool Mark(const RangeOptions& options);
// A range of the process; `id` is what End takes.
bool Start(const RangeOptions& options, uint64_t& id);
bool End(const std::string& domain, uint64_t id);

}  // namespace nanolane::sim::ranges
