// Reads the facts of a ring: an arena that only grows. Hostile ground: an entry that makes no sense
// ends the reading for good, because nothing says where the next one begins. Thread-compatible.
#pragma once

#include <cstdint>
#include <vector>

#include "services/collector/ring/ring_memory.h"
#include "services/collector/ring/ring_records.h"

namespace nanolane::collector {

class FactReader {
 public:
  explicit FactReader(RingMemory& ring) : ring_(ring) {}

  // Hands out what is new. Bounded by the arena's size over all calls together.
  void Read(RingVisitor& visitor);

  bool corrupt() const { return corrupt_; }

 private:
  // The next entry, checked, in `entry_`; its size, or 0 when it makes no sense.
  uint32_t Fetch(uint64_t end);

  RingMemory& ring_;
  uint64_t consumed_ = 0;
  bool corrupt_ = false;
  std::vector<uint64_t> entry_;
};

}  // namespace nanolane::collector
