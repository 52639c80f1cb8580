// Rows: how the events of a sealed lane lie on disk, so that the columns of any window need a few
// small pieces of them. Sizes are in events:
//
//   root   one per row, read by every query: of each page what a node says (below), and for each
//          16, 256, … pages the sum of their tables
//   page   4,096: of each group what a node says, and for each 4 groups the sum of their tables
//   group  256: the events, bit-packed, by themselves
//
// A node says: first start, last end, summed duration, longest event, and a table of the summed
// duration of each label that occurs, those of instants too. A column of k events adds up
// O(log k) tables and looks at the events of at most two groups, those where its edges fall.
//
// All but the last page and the last group are full. Times wrap modulo 2^64 as they are packed, so
// that all of int64 comes back. Each piece starts with a version. Decoding survives any bytes and
// takes memory in proportion to theirs; what they say it believes: the database has checksums.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace nanolane::timeline {

// On disk: never change or reuse a number.
enum class RowKind : uint8_t {
  kDisjoint = 0,  // events sorted by start, of which none overlaps another
  kCover = 1,     // disjoint spans without labels
  kLoose = 2,     // events sorted by start, which may overlap
};

// What a query takes from a row.
struct RowRole {
  bool events = true;   // starts, presence, weights, the longest
  bool covers = false;  // coverage; rows that cover never overlap each other
};

inline constexpr uint8_t kRowVersion = 1;
inline constexpr uint32_t kGroupEvents = 256;
inline constexpr uint32_t kPageGroups = 16;
inline constexpr uint32_t kPageEvents = kGroupEvents * kPageGroups;
inline constexpr uint32_t kGroupFanout = 4;  // groups per table above them
inline constexpr uint32_t kPageFanout = 16;  // pages per table above them

// The pieces of a row; group i is in page i / 16. Page and group numbers count from the row's
// start.
struct RowBytes {
  std::string root;
  std::vector<std::string> pages;
  std::vector<std::string> groups;
};

// Where the pieces of one row come from. A view is valid until the next call of the same function.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual absl::StatusOr<std::string_view> Page(uint32_t page) = 0;
  virtual absl::StatusOr<std::string_view> Group(uint32_t group) = 0;
};

inline absl::Status BadRow(std::string_view what) {
  return absl::DataLossError("a row of the lane is damaged: " + std::string(what));
}

}  // namespace nanolane::timeline
