// What one pass over a trace file leaves behind: tables that fit in memory, and records that are
// sorted on disk where they do not.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "libs/ingest/kineto/json_scanner.h"
#include "libs/ingest/kineto/records.h"
#include "libs/trace/kinds.h"

namespace nanolane::ingest::kineto {

// A process that host events name.
struct Process {
  int64_t id = 0;       // as the file says; 0 where it is not a number
  std::string id_text;  // where it is not a number
  // Records by what they become.
  uint64_t calls = 0;
  uint64_t frames = 0;
  uint64_t annotations = 0;
  uint64_t memory_events = 0;
  uint64_t sync_calls = 0;
  // Filled by the join.
  uint64_t device_records = 0;
  uint64_t sync_records = 0;
  uint64_t launches_without_kernel = 0;
};

struct Thread {
  ProcessIndex process = 0;
  uint64_t id = 0;
};

// Where device records lie; the stream of LaneKind::kNoStreamSync is -1.
struct DeviceLane {
  trace::LaneKind kind = trace::LaneKind::kUnspecified;
  int32_t device = 0;
  uint32_t context = 0;
  int64_t stream = -1;

  bool operator==(const DeviceLane&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const DeviceLane& lane) {
    return H::combine(std::move(h), lane.kind, lane.device, lane.context, lane.stream);
  }
};

// A trace::Op before its strings belong to a session.
struct DeviceOp {
  trace::EventKind kind = trace::EventKind::kUnspecified;
  trace::SyncKind sync_kind = trace::SyncKind::kNone;
  trace::CopyDirection copy_direction = trace::CopyDirection::kNone;
  trace::MemoryKind source_memory = trace::MemoryKind::kUnknown;
  trace::MemoryKind destination_memory = trace::MemoryKind::kUnknown;
  NameId name = 0;
  std::array<uint32_t, 3> grid = {0, 0, 0};
  std::array<uint32_t, 3> block = {0, 0, 0};
  uint32_t registers = 0;
  uint32_t shared_memory = 0;
  // Values of collective communication: collective, data type, group name, group size.
  std::array<NameId, 4> communication = {0, 0, 0, 0};

  bool operator==(const DeviceOp&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const DeviceOp& op) {
    return H::combine(std::move(h), op.kind, op.sync_kind, op.copy_direction, op.source_memory,
                      op.destination_memory, op.name, op.grid, op.block, op.registers,
                      op.shared_memory, op.communication);
  }
};

struct TraceContents {
  struct Options {
    size_t memory_bytes = 256 << 20;  // of all records together
    std::string spill_dir;
  };

  explicit TraceContents(const Options& options);

  NameTable names;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<DeviceLane> lanes;
  std::vector<DeviceOp> ops;
  // Name of each process by id, from metadata; host processes and GPUs share the numbers.
  absl::flat_hash_map<int64_t, NameId> process_names;
  // The process that metadata labels "CPU", for files without any host event; kNoId: none.
  static constexpr int64_t kNoId = -1;
  int64_t labelled_process = kNoId;

  HostSorter hosts;
  MemorySorter memory;
  // Reset by the join.
  std::unique_ptr<CallSorter> calls;
  std::unique_ptr<DeviceSorter> devices;

  CallIndex call_count = 0;
  // Least start but 0 of all events looked at; kBadTime: none.
  int64_t first_start_ns = kBadTime;
  Oddity begin_end_pairs;   // events of kinds that matter, as begin and end apart
  Oddity too_many_threads;  // events of threads beyond the bound
};

}  // namespace nanolane::ingest::kineto
