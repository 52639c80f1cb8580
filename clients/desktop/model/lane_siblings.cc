#include "clients/desktop/model/lane_siblings.h"

#include <algorithm>
#include <utility>

namespace nanolane::desktop {

LaneSiblings SiblingsOf(const RowLayout& layout, const LaneBlock& block) {
  LaneSiblings siblings;
  const auto key_of = [&block](const LaneBlock& other) {
    return block.pinned ? other.key : other.unit;
  };
  for (const LaneBlock& other : layout.blocks()) {
    const bool fits = other.pinned == block.pinned && (block.pinned || other.group == block.group);
    if (!fits) continue;
    const std::string& key = key_of(other);
    if (siblings.all.empty() || siblings.all.back().key != key) {
      siblings.all.push_back({key, other.y, other.y});
    }
    siblings.all.back().bottom = other.y + other.height;
    if (key == key_of(block)) siblings.self = siblings.all.size() - 1;
  }
  return siblings;
}

void MoveSibling(const LaneBlock& block, const LaneSiblings& siblings, size_t place,
                 LaneArrangement& arrangement) {
  if (siblings.all.empty() || place == siblings.self || place == siblings.self + 1) return;
  std::vector<std::string> keys;
  for (const LaneSibling& sibling : siblings.all) keys.push_back(sibling.key);
  const std::string moved = keys[siblings.self];
  place = std::min(place, keys.size());
  keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(siblings.self));
  if (place > siblings.self) --place;
  keys.insert(keys.begin() + static_cast<std::ptrdiff_t>(place), moved);
  if (block.pinned) {
    arrangement.SetPins(std::move(keys));
  } else {
    arrangement.SetOrder(block.group, std::move(keys));
  }
}

}  // namespace nanolane::desktop
