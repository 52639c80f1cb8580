// A few integers in a frame of reference: the least of them, the others' differences to it packed
// in the number of bits that makes the whole smallest, and the bits above that of those that do not
// fit (so that one long gap does not widen all).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "libs/timeline/tiles/bytes.h"

namespace nanolane::timeline {

inline constexpr size_t kMaxPackedInts = 256;

// At most kMaxPackedInts values.
void AppendPackedInts(std::span<const uint64_t> values, std::string& out);

// Reads as many values as were appended together, values.size() of them; in.ok() says whether the
// bytes held them.
void ReadPackedInts(BytesReader& in, std::span<uint64_t> values);

}  // namespace nanolane::timeline
