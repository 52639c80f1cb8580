// Numbers of a trace from their decimal text, never through a double: 16-digit microseconds with
// three decimals do not fit one.
#pragma once

#include <cstdint>
#include <string_view>

namespace nanolane::ingest::kineto {

// "5103989856487.131" µs → 5103989856487131 ns; "1.5e3" → 1500000. Beyond three decimals the
// magnitude is rounded half up. False: not a decimal number, or beyond int64 ns. O(length).
bool ParseMicros(std::string_view text, int64_t& ns);

// An integer, clamped into the range of its type; a fraction is cut off. False: not a decimal
// number.
bool ParseUnsigned(std::string_view text, uint64_t& value);
bool ParseSigned(std::string_view text, int64_t& value);

}  // namespace nanolane::ingest::kineto
