// The events of one lane in the order in which they came: hot columns (start, duration, name,
// category) packed so that any value is read in O(1), about 7 bytes an event; everything else in
// the blocks as they were sent, about as much again, unpacked when somebody asks for one event. The
// few blocks unpacked last are kept.
//
// Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/desktop/model/name_table.h"
#include "clients/desktop/model/packed_column.h"
#include "libs/trace/event_columns.h"
#include "libs/trace/kinds.h"

namespace nanolane::desktop {

// An event and where its dictionary ids belong.
struct FullEvent {
  trace::Event event;
  uint32_t dictionary = 0;  // index of the model's dictionaries
};

class EventStore {
 public:
  static constexpr size_t kUnpackedBlocks = 8;

  // A block's events; the spans are parallel. `packed` decodes to as many.
  struct Block {
    uint32_t dictionary = 0;
    std::string packed;
    std::vector<int64_t> start_ns;
    std::vector<int64_t> duration_ns;
    std::vector<NameId> name;
    std::vector<trace::Category> category;
  };
  void Append(Block block);

  size_t size() const { return start_ns_.size(); }
  int64_t start_ns(size_t event) const { return start_ns_[event]; }
  int64_t duration_ns(size_t event) const { return duration_ns_[event]; }
  int64_t end_ns(size_t event) const;  // saturated; never before the start
  NameId name(size_t event) const { return static_cast<NameId>(label_[event] >> kCategoryBits); }
  trace::Category category(size_t event) const {
    return static_cast<trace::Category>(label_[event] & ((1 << kCategoryBits) - 1));
  }

  // All columns of one event: O(log blocks), and the unpacking of its block unless that is kept.
  absl::StatusOr<FullEvent> At(size_t event) const;

  // The stacks of block `block`'s events, `first` being the number of the first of them.
  struct BlockStacks {
    size_t first = 0;
    uint32_t dictionary = 0;
    std::vector<trace::StackId> stack;
  };
  // O(events of the block). Errors as trace::DecodeBlock.
  absl::StatusOr<BlockStacks> StacksOf(size_t block) const;
  // Some columns of a block (op, start and duration always), unpacked for this call alone: for
  // those who walk a lane. `first` is the number of its first event.
  struct BlockColumns {
    size_t first = 0;
    uint32_t dictionary = 0;
    trace::EventColumns columns;
  };
  size_t block_count() const { return blocks_.size(); }
  // The number of a block's first event; of all events, for the block after the last.
  size_t block_begin(size_t block) const {
    return block < blocks_.size() ? blocks_[block].first : size();
  }
  absl::StatusOr<BlockColumns> Unpack(size_t block, trace::ColumnSet columns) const;

  size_t MemoryBytes() const;

 private:
  struct PackedBlock {
    size_t first = 0;  // event
    uint32_t dictionary = 0;
    std::string bytes;
  };
  struct Unpacked {
    size_t block = 0;
    trace::EventColumns columns;
  };

  static constexpr int kCategoryBits = 4;
  static_assert(trace::kCategoryCount <= 1 << kCategoryBits);

  PackedColumn start_ns_;
  PackedColumn duration_ns_;
  PackedColumn label_;  // name and category in one
  std::vector<PackedBlock> blocks_;
  mutable std::list<Unpacked> unpacked_;  // last used first
};

}  // namespace nanolane::desktop
