// Launch calls by correlation, until the device work that they issued has come: one call may issue
// much (a graph, a batch of copies), and the work may come before it or long after.
//
// Bounded: beyond kMaxLaunches the oldest go; such that have met device work go once
// kMatchedLaunches have come after them. A correlation that comes again means the newer call.
// Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "services/collector/ring/ring_records.h"

namespace nanolane::collector {

struct Launch {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  RecordRef ref;
  uint32_t correlation = 0;
  uint32_t thread = 0;
  bool is_kernel = false;   // launches kernels by itself
  bool is_matched = false;  // device work of it has come
};

class LaunchTable {
 public:
  static constexpr size_t kMaxLaunches = 1 << 20;
  static constexpr size_t kMatchedLaunches = 1 << 15;

  using Visit = absl::FunctionRef<void(const Launch&)>;

  // `dropped` sees those that go without having met device work.
  void Add(const Launch& launch, Visit dropped);
  // Null when there is none. Valid until the next Add.
  Launch* Find(uint32_t correlation);
  // Empties the table, from the oldest on.
  void Clear(Visit dropped);

  size_t size() const { return launches_.size(); }

 private:
  void DropOldest(Visit dropped);

  std::deque<Launch> launches_;
  uint64_t first_ = 0;  // number of launches_[0]
  absl::flat_hash_map<uint32_t, uint64_t> by_correlation_;
};

}  // namespace nanolane::collector
