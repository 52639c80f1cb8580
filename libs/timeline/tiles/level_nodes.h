// The pieces of a row of levels, as level_row.h describes them: encoding, and decoding of any
// bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "libs/timeline/tiles/row_format.h"

namespace nanolane::timeline {

struct LevelPoint {
  int64_t time_ns = 0;
  int64_t level = 0;  // from then on
};

// What some consecutive points hold.
struct LevelNode {
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  int64_t lowest = 0;
  int64_t highest = 0;
  int64_t last = 0;
};

LevelNode NodeOf(std::span<const LevelPoint> points);
LevelNode NodeOf(std::span<const LevelNode> nodes);

// A page or a root.
std::string EncodeLevelNodes(std::span<const LevelNode> nodes, uint64_t points);
// 1 … 256 points, sorted by time.
std::string EncodeLevelGroup(std::span<const LevelPoint> points);

class LevelNodes {
 public:
  // Each node but the last holds `node_points`.
  absl::Status Decode(std::string_view bytes, uint32_t node_points, uint64_t max_nodes);

  uint64_t points() const { return points_; }
  size_t size() const { return nodes_.size(); }
  const LevelNode& operator[](size_t i) const { return nodes_[i]; }
  uint64_t PointsBefore(size_t i) const {
    return i == nodes_.size() ? points_ : uint64_t{i} * node_points_;
  }
  uint64_t PointsOf(size_t i) const { return PointsBefore(i + 1) - PointsBefore(i); }

  // The first node from `from` on whose last point is at or after the time.
  size_t FirstReaching(int64_t time_ns, size_t from) const;

 private:
  uint32_t node_points_ = 1;
  uint64_t points_ = 0;
  std::vector<LevelNode> nodes_;
};

struct LevelGroup {
  size_t count = 0;
  std::array<int64_t, kGroupEvents> time_ns;
  std::array<int64_t, kGroupEvents> level;

  absl::Status Decode(std::string_view bytes, size_t expected);
};

}  // namespace nanolane::timeline
