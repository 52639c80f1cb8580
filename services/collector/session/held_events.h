// Device work whose launch call has not come yet, by correlation, with the time until which it
// waits. Bounded: beyond kMaxHeld the oldest go. Deadlines never fall. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "libs/trace/model.h"
#include "services/collector/ring/ring_records.h"

namespace nanolane::collector {

struct HeldEvent {
  trace::EventKind kind = trace::EventKind::kUnspecified;
  trace::LaneId lane = 0;
  trace::Event event;
  RecordRef ref;
  uint32_t correlation = 0;
  int64_t deadline_ns = 0;
};

class HeldEvents {
 public:
  static constexpr size_t kMaxHeld = 1 << 15;

  using Visit = absl::FunctionRef<void(HeldEvent&)>;

  // `expired` sees what has to go for it.
  void Add(const HeldEvent& held, Visit expired);
  // Hands out and forgets what waits for the correlation, oldest first.
  void Take(uint32_t correlation, Visit taken);
  // Hands out and forgets what has waited until `now_ns`, oldest first.
  void Expire(int64_t now_ns, Visit expired);

  bool empty() const { return waiting_ == 0; }
  size_t size() const { return waiting_; }

 private:
  struct Slot {
    HeldEvent held;
    uint64_t next = 0;  // number of the next one with the correlation; 0: none
    bool is_done = false;
  };
  struct Chain {
    uint64_t first = 0;
    uint64_t last = 0;
  };

  Slot& At(uint64_t number) { return slots_[number - first_]; }
  void DropOldest(Visit expired);

  std::deque<Slot> slots_;
  uint64_t first_ = 1;  // number of slots_[0]
  absl::flat_hash_map<uint32_t, Chain> chains_;
  size_t waiting_ = 0;
};

}  // namespace nanolane::collector
