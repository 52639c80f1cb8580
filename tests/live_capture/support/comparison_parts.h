// The parts of comparison.h, by kind of event. Each takes the events that it can explain off the
// list of those that nothing has explained.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/live_capture/support/comparison.h"

namespace nanolane::testing {

enum class Place { kEarly, kEdge, kInside, kOutside };

struct Comparison {
  const std::vector<Deed>& deeds;
  const RecordedSession& session;
  const ComparisonOptions& options;
  int64_t on_ns = 0;
  int64_t off_ns = 0;
  std::vector<std::string> problems;
  // By correlation: of device work and waits; and by kind what has none.
  std::multimap<uint64_t, const RecordedEvent*> work;
  std::multimap<uint64_t, const RecordedEvent*> waits;
  std::multimap<uint64_t, const RecordedEvent*> changes;
  std::vector<const RecordedEvent*> ranges;

  Place PlaceOf(const Deed& deed) const;
  bool Wants(trace::EventKind kind) const;
  void Check(bool holds, const Deed& deed, const std::string& what);
};

std::string Describe(const Deed& deed);
std::string Describe(const RecordedEvent& recorded);

void CompareDeviceWork(Comparison& comparison);
void CompareWaits(Comparison& comparison);
void CompareMemory(Comparison& comparison);
void CompareRanges(Comparison& comparison);

}  // namespace nanolane::testing
