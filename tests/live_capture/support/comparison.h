// Holds a session against what the simulated program did, call by call: an event for every call
// whose beginning lies in [on, off) of the capture, each as the call was, and no other event.
//
// A program knows a time before each call and one after it, not the moment at which CUPTI saw it. A
// call is inside when it lies between on and off as a whole, and outside when it ended before on or
// began after off. Those at the edges may be recorded or not, once, and then are right.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/live_capture/support/deeds.h"
#include "tests/live_capture/support/recorded_session.h"

namespace nanolane::testing {

struct ComparisonOptions {
  // Whether launch calls were asked for.
  bool has_launches = true;
  // Kinds that were asked for; empty: all.
  std::vector<trace::EventKind> kinds;
  // Kinds of the nodes of each graph of the script.
  std::map<std::string, std::vector<trace::EventKind>> graphs;
  // Whether bytes in use are compared: allocations of one thread alone can be put into order.
  bool has_levels = true;
  // Work that was not finished when the process ended has no record.
  bool process_ended = false;
};

// What is wrong, at most a few dozen lines; empty: nothing is.
std::string Compare(const std::vector<Deed>& deeds, const RecordedSession& session,
                    const ComparisonOptions& options = {});

// Calls of one name that lie inside.
size_t CountInside(const std::vector<Deed>& deeds, const RecordedSession& session,
                   const std::string& call);

}  // namespace nanolane::testing
