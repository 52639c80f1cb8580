// Which times of a trace cannot be true, and what is done about them.
//
// Left out of the session, counted and told by kind: events whose start or duration is missing, no
// number, or beyond 64-bit nanoseconds; events stamped 0 in a file whose other times begin more
// than an hour after 0 (the profiler lost the times; shown, they would stretch every view);
// negative durations; durations of more than a day (a capture of the profiler spans seconds). A
// duration down to -1 µs is a rounding fault of older profilers on very short kernels: kept, with
// duration 0, and told.
#pragma once

#include <cstdint>
#include <string_view>

namespace nanolane::ingest::kineto {

enum class Verdict : uint8_t {
  kGood = 0,
  kRoundedBelowZero = 1,  // the only one besides kGood that is kept
  kNoStart = 2,
  kNoDuration = 3,
  kStampedZero = 4,
  kNegative = 5,
  kTooLong = 6,
};
inline constexpr int kVerdictCount = 7;

inline constexpr int64_t kFarFromZeroNs = 3'600'000'000'000;
inline constexpr int64_t kLongestNs = 86'400'000'000'000;
inline constexpr int64_t kRoundingFaultNs = -1'000;

// Times are kBadTime where the file gives none. `zero_is_far`: the file's times begin far from 0.
Verdict Judge(int64_t start_ns, int64_t duration_ns, bool zero_is_far);

inline bool IsKept(Verdict verdict) {
  return verdict == Verdict::kGood || verdict == Verdict::kRoundedBelowZero;
}

// A sentence for a person, such as "start is stamped 0, far before all other events"; "" for kGood.
std::string_view ReasonOf(Verdict verdict);

}  // namespace nanolane::ingest::kineto
