#include "services/collector/session/clock_pairs.h"

namespace nanolane::collector {

void ClockPairs::Add(const inject::wire::ClockFact& fact) {
  const bool keep = seen_ % stride_ == 0;
  ++seen_;
  if (!keep) return;
  if (pairs_.size() == kMaxPairs) {
    for (size_t i = 0; i < kMaxPairs / 2; ++i) pairs_[i] = pairs_[i * 2];
    pairs_.resize(kMaxPairs / 2);
    stride_ *= 2;
  }
  pairs_.push_back({.session_ns = fact.monotonic_ns, .unix_ns = fact.realtime_ns});
}

void ClockPairs::Fill(nanolane::trace::v1::ClockFacts& facts) const {
  facts.clear_pairs();
  if (pairs_.empty()) return;
  // Unsigned: what a process says may lie anywhere.
  const Pair& first = pairs_.front();
  facts.set_unix_offset_ns(static_cast<int64_t>(static_cast<uint64_t>(first.unix_ns) -
                                                static_cast<uint64_t>(first.session_ns)));
  facts.set_unix_offset_known(true);
  for (const Pair& pair : pairs_) {
    auto* const added = facts.add_pairs();
    added->set_session_ns(pair.session_ns);
    added->set_unix_ns(pair.unix_ns);
  }
}

}  // namespace nanolane::collector
