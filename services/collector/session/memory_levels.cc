#include "services/collector/session/memory_levels.h"

#include <algorithm>
#include <limits>

#include "libs/trace/model.h"
#include "services/collector/session/api_names.h"

namespace nanolane::collector {

void MemoryLevels::AddBaseline(const wire::MemoryLevelFact& fact) {
  if (levels_.size() >= kMaxDevices) return;
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  levels_.try_emplace(fact.header.id,
                      Level{.since_ns = fact.time_ns,
                            .bytes = static_cast<int64_t>(std::min(fact.used_bytes, kMost))});
}

int64_t MemoryLevels::After(const wire::MemoryRecord& change) {
  const auto found = levels_.find(change.device);
  if (found == levels_.end() || change.time_ns < found->second.since_ns) return trace::kNoLevel;
  int64_t& level = found->second.bytes;
  int64_t after = 0;
  // A sum that overflows is of a process that makes numbers up.
  if (IsDeviceMemory(change.memory_kind) && !__builtin_add_overflow(level, change.bytes, &after)) {
    level = after;
  }
  return level;
}

uint32_t MemoryLevels::PoolNumber(uint64_t address) {
  if (address == 0) return 0;
  const auto found = pools_.find(address);
  if (found != pools_.end()) return found->second;
  if (pools_.size() >= kMaxPools) return 0;
  const auto number = static_cast<uint32_t>(pools_.size() + 1);
  pools_.emplace(address, number);
  return number;
}

}  // namespace nanolane::collector
