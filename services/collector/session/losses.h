// What a capture is missing, in words for a person, and what is odd about what it has.
#pragma once

#include <string>
#include <vector>

#include "nanolane/trace/v1/trace.pb.h"
#include "services/collector/ring/ring_reader.h"
#include "services/collector/session/session_builder.h"

namespace nanolane::collector {

// Totals by kind and reason: what the process counted, what the ring spoilt, what the builder could
// not keep. Nothing that is 0. `reader`'s counters are those of its last UpdateCounters().
std::vector<nanolane::trace::v1::Loss> Losses(const RingReader& reader,
                                              const SessionBuilder& builder);

// Whether a loss of this reason is counted in the ring, and so survives a restart of the collector.
bool IsCountedInRing(const std::string& reason);

// Events that were kept though they look odd, by kind and reason.
std::vector<nanolane::trace::v1::Loss> Oddities(const SessionBuilder& builder);

}  // namespace nanolane::collector
