#include "libs/timeline/tiles/level_nodes.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "libs/timeline/tiles/bytes.h"
#include "libs/timeline/tiles/packed_ints.h"

namespace nanolane::timeline {

namespace {

uint64_t Unsigned(int64_t value) { return static_cast<uint64_t>(value); }

// How levels change is small where they are not; it wraps modulo 2^64.
uint64_t Change(int64_t from, int64_t to) {
  return ZigZag(static_cast<int64_t>(Unsigned(to) - Unsigned(from)));
}
int64_t Changed(int64_t from, uint64_t change) {
  return static_cast<int64_t>(Unsigned(from) + Unsigned(UnZigZag(change)));
}

}  // namespace

LevelNode NodeOf(std::span<const LevelPoint> points) {
  LevelNode node = {.first_ns = points.front().time_ns,
                    .last_ns = points.back().time_ns,
                    .lowest = points.front().level,
                    .highest = points.front().level,
                    .last = points.back().level};
  for (const LevelPoint& point : points) {
    node.lowest = std::min(node.lowest, point.level);
    node.highest = std::max(node.highest, point.level);
  }
  return node;
}

LevelNode NodeOf(std::span<const LevelNode> nodes) {
  LevelNode sum = nodes.front();
  for (const LevelNode& node : nodes) {
    sum.lowest = std::min(sum.lowest, node.lowest);
    sum.highest = std::max(sum.highest, node.highest);
  }
  sum.last_ns = nodes.back().last_ns;
  sum.last = nodes.back().last;
  return sum;
}

std::string EncodeLevelNodes(std::span<const LevelNode> nodes, uint64_t points) {
  std::string out;
  out.push_back(static_cast<char>(kRowVersion));
  AppendVarint(out, nodes.size());
  AppendVarint(out, points);
  int64_t time_ns = 0;
  int64_t level = 0;
  for (const LevelNode& node : nodes) {
    AppendVarint(out, Unsigned(node.first_ns) - Unsigned(time_ns));
    AppendVarint(out, Unsigned(node.last_ns) - Unsigned(node.first_ns));
    AppendVarint(out, Change(level, node.last));
    AppendVarint(out, Unsigned(node.last) - Unsigned(node.lowest));
    AppendVarint(out, Unsigned(node.highest) - Unsigned(node.last));
    time_ns = node.last_ns;
    level = node.last;
  }
  return out;
}

std::string EncodeLevelGroup(std::span<const LevelPoint> points) {
  assert(!points.empty() && points.size() <= kGroupEvents);
  std::string out;
  out.push_back(static_cast<char>(kRowVersion));
  out.push_back(static_cast<char>(points.size() - 1));
  trace::AppendLittle(out, points.front().time_ns);
  trace::AppendLittle(out, points.front().level);
  std::array<uint64_t, kGroupEvents> gaps;
  std::array<uint64_t, kGroupEvents> changes;
  for (size_t i = 1; i < points.size(); ++i) {
    gaps[i - 1] = Unsigned(points[i].time_ns) - Unsigned(points[i - 1].time_ns);
    changes[i - 1] = Change(points[i - 1].level, points[i].level);
  }
  AppendPackedInts(std::span(gaps).first(points.size() - 1), out);
  AppendPackedInts(std::span(changes).first(points.size() - 1), out);
  return out;
}

absl::Status LevelNodes::Decode(std::string_view bytes, uint32_t node_points, uint64_t max_nodes) {
  BytesReader in(bytes);
  nodes_.clear();
  node_points_ = node_points;
  if (in.Byte() != kRowVersion) return BadRow("unknown version of levels");
  const uint64_t count = in.Varint();
  points_ = in.Varint();
  // A node takes five bytes at least, so that memory stays in proportion.
  if (!in.ok() || count == 0 || count > max_nodes || count > in.remaining() || points_ == 0 ||
      (points_ - 1) / node_points + 1 != count ||
      points_ / kGroupEvents >= std::numeric_limits<uint32_t>::max()) {
    return BadRow("counts of levels");
  }
  nodes_.resize(static_cast<size_t>(count));
  int64_t time_ns = 0;
  int64_t level = 0;
  bool bad = false;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    LevelNode& node = nodes_[i];
    node.first_ns = static_cast<int64_t>(Unsigned(time_ns) + in.Varint());
    node.last_ns = static_cast<int64_t>(Unsigned(node.first_ns) + in.Varint());
    node.last = Changed(level, in.Varint());
    node.lowest = static_cast<int64_t>(Unsigned(node.last) - in.Varint());
    node.highest = static_cast<int64_t>(Unsigned(node.last) + in.Varint());
    bad |= (i > 0 && node.first_ns < time_ns) || node.last_ns < node.first_ns ||
           node.lowest > node.last || node.highest < node.last;
    time_ns = node.last_ns;
    level = node.last;
  }
  if (in.ok() && in.remaining() == 0 && !bad) return absl::OkStatus();
  nodes_.clear();
  return BadRow("levels do not decode");
}

size_t LevelNodes::FirstReaching(int64_t time_ns, size_t from) const {
  return static_cast<size_t>(
      std::lower_bound(nodes_.begin() + static_cast<ptrdiff_t>(from), nodes_.end(), time_ns,
                       [](const LevelNode& node, int64_t time) { return node.last_ns < time; }) -
      nodes_.begin());
}

absl::Status LevelGroup::Decode(std::string_view bytes, size_t expected) {
  BytesReader in(bytes);
  count = 0;
  if (in.Byte() != kRowVersion) return BadRow("unknown version of a group of levels");
  const size_t found = size_t{in.Byte()} + 1;
  if (found != expected || expected > kGroupEvents) return BadRow("a group of another size");
  time_ns[0] = static_cast<int64_t>(in.Fixed64());
  level[0] = static_cast<int64_t>(in.Fixed64());
  std::array<uint64_t, kGroupEvents> gaps;
  std::array<uint64_t, kGroupEvents> changes;
  ReadPackedInts(in, std::span(gaps).first(found - 1));
  ReadPackedInts(in, std::span(changes).first(found - 1));
  if (!in.ok() || in.remaining() != 0) return BadRow("a group of levels does not decode");
  bool bad = false;
  for (size_t i = 1; i < found; ++i) {
    time_ns[i] = static_cast<int64_t>(Unsigned(time_ns[i - 1]) + gaps[i - 1]);
    level[i] = Changed(level[i - 1], changes[i - 1]);
    bad |= time_ns[i] < time_ns[i - 1];
  }
  if (bad) return BadRow("times of levels are out of order");
  count = found;
  return absl::OkStatus();
}

}  // namespace nanolane::timeline
