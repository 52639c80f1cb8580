// How much memory of a device is held after each change: what was held when the capture began, by
// everybody, and the changes since. Bounded by kMaxDevices and kMaxPools. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "services/collector/inject/wire.h"

namespace nanolane::collector {

namespace wire = inject::wire;

class MemoryLevels {
 public:
  static constexpr size_t kMaxDevices = 256;
  static constexpr size_t kMaxPools = 4096;

  // The first baseline of a device counts.
  void AddBaseline(const wire::MemoryLevelFact& fact);

  // The level after the change; trace::kNoLevel without a baseline, and for a change that the
  // baseline has seen. Memory that is not the device's own leaves the level as it is.
  int64_t After(const wire::MemoryRecord& change);

  // From 1, in the order in which pools come up; 0 for no pool, and for pools beyond the bound.
  uint32_t PoolNumber(uint64_t address);

 private:
  struct Level {
    int64_t since_ns = 0;
    int64_t bytes = 0;
  };

  absl::flat_hash_map<uint32_t, Level> levels_;  // by device
  absl::flat_hash_map<uint64_t, uint32_t> pools_;
};

}  // namespace nanolane::collector
