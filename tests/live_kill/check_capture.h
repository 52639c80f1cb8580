// Holds a stored session against what its process did: everything at most once, nothing that was
// not done, and whatever is missing is counted.
//
// A call is expected if it was made within [capture.on_ns, capture.off_ns) for certain; the
// moments at which it began are known only as between two readings of the clock, so that calls at
// the edges may be there or not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/live_kill/program_truth.h"
#include "tests/live_kill/stored_session.h"

namespace nanolane::testing {

struct CaptureExpectation {
  // The process lived until its capture had ended; else what is missing cannot be known.
  bool lived = true;
  uint64_t threads = 0;
  // What collectors said to be safe, added up over their lives.
  uint64_t safe_events = 0;
};

struct CaptureVerdict {
  std::vector<std::string> problems;
  uint64_t expected = 0;
  uint64_t stored = 0;
  uint64_t missing = 0;
  uint64_t lost = 0;        // counted
  uint64_t unlaunched = 0;  // device work without its launch call
};

CaptureVerdict CheckCapture(const StoredSession& session, const ProgramTruth& truth,
                            const CaptureExpectation& expectation);

}  // namespace nanolane::testing
