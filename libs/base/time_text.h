// Durations and ranges as people write and read them: "1.2ms", "35.153 ms", "1.2ms..3ms".
// The same form everywhere: command line, viewer, documents. Integer nanoseconds inside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace nanolane::base {

// "312.416 µs", "1.234 567 s" → three decimals at most, trailing zeros kept out; exact below 1 µs.
std::string FormatDuration(int64_t ns);

// All digits with thousands apart, for tooltips: "208 512 984 ns".
std::string FormatExactNanos(int64_t ns);

// A decimal number with a unit (ns, us, µs, ms, s, m, h), or several whose units get smaller:
// "1.2ms" → 1200000, "1m30s" → 90 s. Fractions below 1 ns, missing units and values beyond int64
// are errors.
absl::StatusOr<int64_t> ParseDuration(std::string_view text);

struct TimeRange {
  int64_t from_ns = 0;  // inclusive
  int64_t to_ns = 0;    // exclusive
};

// "FROM..TO", each a ParseDuration value counted from the session's start; FROM < TO.
absl::StatusOr<TimeRange> ParseRange(std::string_view text);

}  // namespace nanolane::base
