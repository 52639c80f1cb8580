// Events of one lane as structure of arrays: the form in which blocks are encoded and decoded.
//
// Invariant: every enabled column has size() entries; a disabled one is empty. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libs/trace/model.h"

namespace nanolane::trace {

// Column numbers lie on disk: never reuse one.
enum class Column : uint8_t {
  kOp = 1,
  kStart = 2,
  kDuration = 3,
  kLaunchStart = 4,
  kLaunchDuration = 5,
  kStack = 6,
  kThread = 7,
  kCorrelation = 8,
  kGraphNode = 9,
  kBytes = 10,
  kAddress = 11,
  kPool = 12,
  kLevel = 13,
  kReserved = 14,
};
inline constexpr int kMaxColumn = 14;

// A set of columns. kOp, kStart and kDuration are always decoded.
class ColumnSet {
 public:
  constexpr ColumnSet() = default;
  static constexpr ColumnSet All() { return ColumnSet(0x7FFE); }
  static constexpr ColumnSet Timeline() {
    return ColumnSet().With(Column::kOp).With(Column::kStart).With(Column::kDuration);
  }
  constexpr ColumnSet With(Column column) const {
    return ColumnSet(bits_ | (1U << static_cast<unsigned>(column)));
  }
  constexpr bool Has(Column column) const {
    return (bits_ >> static_cast<unsigned>(column) & 1U) != 0;
  }

 private:
  explicit constexpr ColumnSet(uint32_t bits) : bits_(bits) {}
  uint32_t bits_ = 0;
};

struct EventColumns {
  std::vector<uint32_t> op;
  std::vector<int64_t> start_ns;
  std::vector<int64_t> duration_ns;
  std::vector<int64_t> launch_start_ns;
  std::vector<int64_t> launch_duration_ns;
  std::vector<uint32_t> stack;
  std::vector<uint64_t> thread;
  std::vector<uint64_t> correlation;
  std::vector<uint64_t> graph_node;
  std::vector<int64_t> bytes;
  std::vector<uint64_t> address;
  std::vector<uint32_t> pool;
  std::vector<int64_t> level_bytes;
  std::vector<int64_t> reserved_bytes;

  size_t size() const { return start_ns.size(); }
  bool empty() const { return start_ns.empty(); }
  void clear();
  void reserve(size_t count);

  // Appends to every column.
  void Add(const Event& event);
  // Columns that were not decoded read as an Event's defaults.
  Event At(size_t index) const;
  // Stable sort by start.
  void SortByStart();
};

}  // namespace nanolane::trace
