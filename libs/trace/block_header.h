// The block's header: what is derived from the events, and its bytes. Inside of the codec; readers
// use ReadBlockHeader of block_codec.h, which is defined here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "libs/trace/block_codec.h"

namespace nanolane::trace {

// Everything that a header says of `events` (at least one).
BlockHeader DescribeBlock(const EventColumns& events, const EncodeOptions& options);

// Writes the header and the checksum into `block`, which has its columns already.
void WriteBlockHeader(const BlockHeader& header, uint32_t column_count, std::string& block);

// Of a block whose header has been read.
uint32_t ColumnCountOf(std::string_view block);

// DATA_LOSS that says what is wrong.
absl::Status CorruptBlock(std::string_view what);

}  // namespace nanolane::trace
