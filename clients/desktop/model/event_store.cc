#include "clients/desktop/model/event_store.h"

#include <algorithm>
#include <iterator>

#include "clients/desktop/model/wide_math.h"
#include "libs/base/status_macros.h"
#include "libs/trace/block_codec.h"

namespace nanolane::desktop {

void EventStore::Append(Block block) {
  blocks_.push_back({size(), block.dictionary, std::move(block.packed)});
  blocks_.back().bytes.shrink_to_fit();
  for (const int64_t start : block.start_ns) start_ns_.Append(start);
  for (const int64_t duration : block.duration_ns) duration_ns_.Append(duration);
  for (size_t i = 0; i < block.name.size(); ++i) {
    label_.Append(static_cast<int64_t>(block.name[i]) << kCategoryBits |
                  static_cast<int64_t>(block.category[i]));
  }
}

int64_t EventStore::end_ns(size_t event) const {
  const int64_t duration = std::max<int64_t>(duration_ns_[event], 0);
  return ClampToInt64(static_cast<Wide>(start_ns_[event]) + duration);
}

absl::StatusOr<FullEvent> EventStore::At(size_t event) const {
  if (event >= size()) return absl::OutOfRangeError("no such event");
  const auto after = std::upper_bound(
      blocks_.begin(), blocks_.end(), event,
      [](size_t wanted, const PackedBlock& block) { return wanted < block.first; });
  const auto block = std::prev(after);
  const auto index = static_cast<size_t>(block - blocks_.begin());
  auto kept = std::find_if(unpacked_.begin(), unpacked_.end(),
                           [index](const Unpacked& unpacked) { return unpacked.block == index; });
  if (kept == unpacked_.end()) {
    Unpacked fresh{.block = index, .columns = {}};
    RETURN_IF_ERROR(trace::DecodeBlock(block->bytes, trace::ColumnSet::All(), fresh.columns));
    if (unpacked_.size() == kUnpackedBlocks) unpacked_.pop_back();
    unpacked_.push_front(std::move(fresh));
  } else {
    unpacked_.splice(unpacked_.begin(), unpacked_, kept);
  }
  const trace::EventColumns& columns = unpacked_.front().columns;
  if (event - block->first >= columns.size()) return absl::DataLossError("block too short");
  return FullEvent{columns.At(event - block->first), block->dictionary};
}

absl::StatusOr<EventStore::BlockStacks> EventStore::StacksOf(size_t block) const {
  ASSIGN_OR_RETURN(BlockColumns unpacked,
                   Unpack(block, trace::ColumnSet::Timeline().With(trace::Column::kStack)));
  unpacked.columns.stack.resize(block_begin(block + 1) - unpacked.first, 0);
  return BlockStacks{unpacked.first, unpacked.dictionary, std::move(unpacked.columns.stack)};
}

absl::StatusOr<EventStore::BlockColumns> EventStore::Unpack(size_t block,
                                                            trace::ColumnSet columns) const {
  if (block >= blocks_.size()) return absl::OutOfRangeError("no such block");
  const PackedBlock& packed = blocks_[block];
  BlockColumns unpacked{.first = packed.first, .dictionary = packed.dictionary, .columns = {}};
  RETURN_IF_ERROR(trace::DecodeBlock(packed.bytes, columns, unpacked.columns));
  return unpacked;
}

size_t EventStore::MemoryBytes() const {
  size_t bytes = start_ns_.MemoryBytes() + duration_ns_.MemoryBytes() + label_.MemoryBytes();
  for (const PackedBlock& block : blocks_) bytes += sizeof(block) + block.bytes.capacity();
  return bytes;
}

}  // namespace nanolane::desktop
