// A group: up to 256 events of a row, by themselves, bit-packed. In bytes:
//
//   version 1 | count - 1, 1 | first start, 8 | labels: count - 1, 1, then varint differences |
//   gaps | durations | labels' numbers in the list, if there are several
//
// Labels are absent in rows of kCover. A gap is from the event before: from its end, or from its
// start in rows of kLoose. See packed_ints.h for the three lists. About 4.7 bytes per event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "libs/timeline/tiles/row_format.h"
#include "libs/timeline/tiles/tile_columns.h"

namespace nanolane::timeline {

// A decoded group, in parallel arrays; about 7 KiB.
struct SpanGroup {
  size_t count = 0;
  std::array<int64_t, kGroupEvents> start_ns;
  std::array<uint64_t, kGroupEvents> length;
  uint64_t length_bits = 0;                  // all lengths or-ed
  std::array<uint64_t, kGroupEvents> label;  // number in `labels`; not set in rows of kCover
  size_t label_count = 0;
  std::array<uint32_t, kGroupEvents> labels;

  int64_t EndOf(size_t i) const {
    return static_cast<int64_t>(static_cast<uint64_t>(start_ns[i]) + length[i]);
  }
  TileSpan At(size_t i) const {
    return {start_ns[i], EndOf(i), label_count == 0 ? 0 : labels[label[i]]};
  }

  // Fails if the bytes are not a group of `expected` events of such a row, in order of time.
  absl::Status Decode(std::string_view bytes, RowKind kind, size_t expected);

 private:
  // From the first start, gaps and lengths; false if times pass int64's greatest value.
  bool PlaceEvents(uint64_t first, RowKind kind, std::span<const uint64_t> gaps);
};

// 1 … 256 spans, sorted as the kind says.
std::string EncodeGroup(std::span<const TileSpan> spans, RowKind kind);

}  // namespace nanolane::timeline
