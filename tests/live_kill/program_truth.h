// What a program of the live kill test did, as its truth file says (tests/simulated_gpu/program/
// truth.h), in the form in which a capture of it is checked: calls by correlation, NVTX ranges by
// thread and time. Of a program that was killed the last calls of each thread are not there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "libs/trace/kinds.h"

namespace nanolane::testing {

// Nodes of the script's one graph.
inline constexpr uint32_t kGraphKernels = 2;
inline constexpr uint32_t kGraphCopies = 1;
inline constexpr uint32_t kGraphSets = 1;

// What both programs do.
struct ProgramShape {
  std::string stop_file;  // ends the loops
  int threads = 2;
  int sleep_us = 1'000;  // between two steps of a thread
};
// Calls that a thread makes between two writes of its truth, and the events that they make.
inline constexpr uint64_t kEventsPerStep = 13;
std::string ProgramScript(const ProgramShape& shape);

struct TrueCall {
  int64_t before_ns = 0;
  int64_t after_ns = 0;
  uint64_t thread = 0;
  std::string name;
  // Events that it makes, by kind; of one kind unless it launches the graph.
  std::map<trace::EventKind, uint32_t> events;
};

struct TrueRange {
  int64_t begin_before_ns = 0;
  int64_t begin_after_ns = 0;
  int64_t end_before_ns = 0;
  int64_t end_after_ns = 0;
  bool ended = false;
  std::string name;
};

struct ProgramTruth {
  std::unordered_map<uint64_t, TrueCall> calls;       // by correlation
  std::map<uint64_t, std::vector<TrueRange>> ranges;  // by thread, in order of time
  int64_t known_until_ns = 0;  // every thread that works has written what it did before
};

ProgramTruth ReadTruth(const std::string& path);

}  // namespace nanolane::testing
