// Writes events as a Chrome trace in the form that PyTorch's profiler writes, so that Perfetto,
// HolisticTraceAnalysis and `nanolane import` read it.
//
// Device work has its launch call beside it ("cuda_runtime" with the same correlation), calls carry
// the launch stack as Chrome's "sf" and "stackFrames". Times are relative to baseTimeNanoseconds,
// written as decimal microseconds with exact nanoseconds. Events are written as they come; memory
// does not grow with them, only with the dictionary and the launches seen. Thread-compatible.
#pragma once

#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "libs/trace/dictionary.h"
#include "libs/trace/event_columns.h"
#include "nanolane/trace/v1/trace.pb.h"

namespace nanolane::cli {

class ChromeTraceWriter {
 public:
  ChromeTraceWriter(std::ostream& out, const nanolane::trace::v1::SessionSummary& summary);

  void WriteEvents(const trace::Lane& lane, uint64_t epoch, const trace::EventColumns& events,
                   const trace::Dictionary& dictionary);
  // The frames of the stacks that were used, and the end of the document.
  void Finish();

  uint64_t events_written() const { return events_written_; }

 private:
  void Open(std::string_view phase, std::string_view category, const std::string& name);
  void WriteEvent(const trace::Lane& lane, const trace::Event& event, const trace::Op& op,
                  const trace::Dictionary& dictionary);
  void WriteDeviceArgs(const trace::Lane& lane, const trace::Event& event, const trace::Op& op);
  void WriteLaunch(uint64_t epoch, const trace::Event& event, const trace::Op& op,
                   const trace::Dictionary& dictionary);
  void WriteMemory(const trace::Lane& lane, const trace::Event& event);
  void WriteTimes(int64_t start_ns, int64_t duration_ns);
  void UseStack(uint64_t epoch, trace::StackId stack, const trace::Dictionary& dictionary);

  std::ostream& out_;
  const uint64_t pid_;
  const bool is_capture_;
  bool first_ = true;
  uint64_t events_written_ = 0;
  // (correlation, start) of launches: the nodes of a graph share one.
  absl::flat_hash_set<std::pair<uint64_t, int64_t>> launches_;
  absl::flat_hash_set<std::pair<uint64_t, trace::StackId>> stacks_;
  std::string stack_frames_;  // body of the "stackFrames" object
};

// "1234.567" of 1234567 ns.
std::string ToMicroseconds(int64_t ns);
// A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
std::string ToJsonString(std::string_view text);

}  // namespace nanolane::cli
