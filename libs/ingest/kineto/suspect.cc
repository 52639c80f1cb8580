#include "libs/ingest/kineto/suspect.h"

#include <limits>

#include "libs/ingest/kineto/records.h"

namespace nanolane::ingest::kineto {

Verdict Judge(int64_t start_ns, int64_t duration_ns, bool zero_is_far) {
  if (start_ns == kBadTime) return Verdict::kNoStart;
  if (duration_ns == kBadTime) return Verdict::kNoDuration;
  if (start_ns == 0 && zero_is_far) return Verdict::kStampedZero;
  if (duration_ns < kRoundingFaultNs) return Verdict::kNegative;
  if (duration_ns < 0) return Verdict::kRoundedBelowZero;
  const bool overflows = start_ns > std::numeric_limits<int64_t>::max() - duration_ns;
  return duration_ns > kLongestNs || overflows ? Verdict::kTooLong : Verdict::kGood;
}

std::string_view ReasonOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGood: return "";
    case Verdict::kRoundedBelowZero:
      return "kept with duration 0: the file has a duration between -1 µs and 0, a rounding fault";
    case Verdict::kNoStart: return "left out: the start time is missing or not a number";
    case Verdict::kNoDuration: return "left out: the duration is not a number";
    case Verdict::kStampedZero:
      return "left out: the start time is 0, far before all other events (the profiler lost it)";
    case Verdict::kNegative: return "left out: the duration is negative";
    case Verdict::kTooLong: return "left out: the duration is longer than a day";
  }
  return "";
}

}  // namespace nanolane::ingest::kineto
