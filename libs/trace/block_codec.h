// The block codec. A block holds up to kMaxBlockEvents events of one lane in columns; it is the
// unit in which events are encoded once (by the writer), stored, sent and decoded (by the reader).
//
// docs/storage-format.md has the bytes. Integers are little-endian. Each column is transformed
// (against the previous value, against the previous value of the same op, against another column,
// or against the rounded mean of its op, whichever is estimated smallest), zigzagged, split into
// byte planes, and each plane stored raw, run-length (constant) or zstd-compressed, whichever is
// smallest.
//
// Decoding hostile bytes yields a status, never a crash, and takes memory in proportion to
// event_count, which is bounded before anything is allocated. Columns of unknown number are
// skipped. All functions are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/trace/event_columns.h"

namespace nanolane::trace {

inline constexpr uint32_t kBlockVersion = 1;
inline constexpr size_t kLiveBlockEvents = 4'096;  // what a live writer fills
inline constexpr size_t kMaxBlockEvents = 65'536;  // what a reader accepts
inline constexpr size_t kBlockHeaderBytes = 128;

// The highest dictionary ids that a block needs to be read.
struct DictionaryNeeds {
  uint32_t strings = 0;
  uint32_t frames = 0;
  uint32_t stacks = 0;
  uint32_t ops = 0;
};

struct BlockHeader {
  uint32_t version = kBlockVersion;
  LaneId lane = 0;  // the writer's lane id
  uint32_t event_count = 0;
  bool sorted = false;    // starts do not decrease
  bool disjoint = false;  // sorted, and no event starts before the previous one's end
  int64_t first_ns = 0;   // least start
  int64_t last_ns = 0;    // greatest end, saturated at int64's ends
  int64_t longest_ns = 0;
  int64_t busy_ns = 0;  // length of the union of the spans; negative durations count as 0
  DictionaryNeeds needs;
  // Memory lanes alone, else kNoLevel:
  int64_t level_before = kNoLevel;
  int64_t level_lowest = kNoLevel;
  int64_t level_highest = kNoLevel;
};

struct EncodeOptions {
  LaneId lane = 0;
  DictionaryNeeds needs;  // strings and frames; ops and stacks are taken from the events
};

// Encodes `events`, all columns of which must be enabled and of equal size. Columns that hold only
// their default take a few bytes. Errors: INVALID_ARGUMENT for no events, more than
// kMaxBlockEvents, or columns of unequal size.
absl::StatusOr<std::string> EncodeBlock(const EventColumns& events, const EncodeOptions& options);

// Reads and checks the header and the checksum over the whole block. DATA_LOSS: corrupt or
// truncated; UNIMPLEMENTED: a newer version.
absl::StatusOr<BlockHeader> ReadBlockHeader(std::string_view block);

// Appends the events of `block` to the columns of `out` named by `columns` (op, start and duration
// always). On error `out` is as it was. Errors as ReadBlockHeader.
absl::Status DecodeBlock(std::string_view block, ColumnSet columns, EventColumns& out);

}  // namespace nanolane::trace
