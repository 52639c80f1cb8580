#include "bench/repeated_trace.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "libs/base/status_macros.h"
#include "libs/ingest/kineto/kineto_import.h"
#include "libs/ingest/kineto/memory_sink.h"

namespace nanolane::bench {
namespace {

bool IsDeviceWork(trace::EventKind kind) {
  return kind == trace::EventKind::kKernel || kind == trace::EventKind::kMemcpy ||
         kind == trace::EventKind::kMemset;
}

// What one repetition moves by.
struct Stride {
  int64_t time_ns = 0;
  uint64_t correlation = 0;
};

Stride StrideOf(const std::map<trace::LaneId, std::vector<trace::Event>>& lanes) {
  int64_t first = INT64_MAX;
  int64_t last = INT64_MIN;
  Stride stride;
  for (const auto& [lane, events] : lanes) {
    for (const trace::Event& event : events) {
      first = std::min(first, event.start_ns);
      last = std::max(last, event.start_ns + event.duration_ns);
      stride.correlation = std::max(stride.correlation, event.correlation);
    }
  }
  stride.time_ns = last - first + 1'000'000;
  return stride;
}

}  // namespace

absl::StatusOr<Workload> RepeatTrace(const std::string& path, const RepeatOptions& options) {
  ingest::MemorySinks sinks;
  RETURN_IF_ERROR(ingest::ImportKineto(path, sinks, {}).status());
  if (sinks.sessions.empty()) return absl::NotFoundError("the trace holds no session");
  ingest::MemorySession& session = *sinks.sessions.begin()->second;
  Workload workload;
  workload.dictionary = std::move(session.dictionary);
  size_t per_round = 0;
  std::map<trace::LaneId, std::vector<trace::Event>> device;
  for (const auto& [lane, events] : session.events) {
    for (const trace::Event& event : events) {
      if (IsDeviceWork(workload.dictionary.tables().OpOf(event.op).kind))
        device[lane].push_back(event);
    }
    per_round += device[lane].size();
  }
  const size_t rounds = (options.events + per_round - 1) / per_round;
  const Stride stride = StrideOf(device);
  std::mt19937_64 random(options.seed);
  std::normal_distribution<double> noise(0, options.sigma_ns);
  const auto jitter = [&] { return std::llround(noise(random)); };
  for (const auto& [lane, events] : device) {
    if (events.empty()) continue;
    std::vector<trace::Event>& repeated = workload.lanes[lane];
    for (size_t round = 0; round < rounds; ++round) {
      const int64_t shift = stride.time_ns * static_cast<int64_t>(round);
      for (trace::Event event : events) {
        event.start_ns += shift + jitter();
        event.duration_ns = std::max<int64_t>(0, event.duration_ns + jitter());
        if (event.launch_start_ns != trace::kNoTime) event.launch_start_ns += shift + jitter();
        if (event.correlation != 0) event.correlation += stride.correlation * round;
        repeated.push_back(event);
      }
    }
    std::stable_sort(
        repeated.begin(), repeated.end(),
        [](const trace::Event& a, const trace::Event& b) { return a.start_ns < b.start_ns; });
    workload.events += repeated.size();
  }
  return workload;
}

trace::DictionaryDelta WholeDictionary(const trace::Dictionary& from) {
  trace::DictionaryDelta delta;
  for (trace::StringId id = 1; id <= from.string_count(); ++id)
    delta.strings.push_back(from.String(id));
  for (trace::FrameId id = 1; id <= from.frame_count(); ++id) {
    delta.frames.push_back(from.FrameOf(id));
    delta.symbols.push_back({.frame = id, .symbol = from.SymbolOf(id)});
  }
  for (trace::StackId id = 1; id <= from.stack_count(); ++id)
    delta.stacks.push_back(from.Stack(id));
  for (trace::OpId id = 1; id <= from.op_count(); ++id) delta.ops.push_back(from.OpOf(id));
  for (const auto& [id, lane] : from.lanes()) delta.lanes.push_back({.id = id, .lane = lane});
  return delta;
}

std::string DataFile(const std::string& name) {
  const char* folder = std::getenv("NANOLANE_DATA_DIR");
  return std::string(folder != nullptr ? folder : NANOLANE_DATA_DIR) + "/" + name;
}

}  // namespace nanolane::bench
