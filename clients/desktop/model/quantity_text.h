// Quantities as the viewer writes them: exact times, bytes, rates, shares. Times on the ruler are
// ruler.h's; rounded durations are libs/base/time_text.h's, counts libs/base/number_text.h's.
#pragma once

#include <cstdint>
#include <string>

namespace nanolane::desktop {

// Exact to the nanosecond, digits in groups of three: "312.416 µs", "208.512 984 ms", "832 ns".
std::string ExactTime(int64_t ns);

// Decimal units, three digits that count: "24.6 KB", "41.2 GB", "96 B".
std::string BytesText(int64_t bytes);

// "26.3 GB/s"; empty when there is no time or nothing moved.
std::string RateText(int64_t bytes, int64_t duration_ns);

// "31.2 %", "0.04 %", "100 %"; what is not nothing never reads "0 %".
std::string ShareText(double part, double whole);

}  // namespace nanolane::desktop
