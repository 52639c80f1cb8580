// Fixed-size records between the passes of an import, and the orders in which they are sorted.
//
// One pass over the file writes them; what they have in common (names, threads, lanes, ops) stands
// in tables of TraceContents and is named by index. Times are ns of the file.
#pragma once

#include <cstdint>
#include <tuple>

#include "libs/ingest/kineto/external_sort.h"
#include "libs/ingest/kineto/name_table.h"
#include "libs/trace/model.h"

namespace nanolane::ingest::kineto {

using ProcessIndex = uint32_t;
using ThreadIndex = uint32_t;
using CallIndex = uint32_t;

inline constexpr uint32_t kNoIndex = 0xFFFF'FFFF;
// In place of a time that the file does not give or that cannot be read.
inline constexpr int64_t kBadTime = trace::kNoTime;

// Something that a host thread did. The order of the values is the order of nesting for spans of
// equal start and length.
enum class HostKind : uint8_t { kPython = 0, kOperator = 1, kAnnotation = 2, kCall = 3 };

struct HostRecord {
  int64_t start_ns;
  int64_t duration_ns;
  ProcessIndex process;
  ThreadIndex thread;
  NameId name;
  CallIndex call;  // of a call; else only keeps the size
  HostKind kind;
  bool driver;  // a call of the driver's API
};
static_assert(sizeof(HostRecord) == 40);

struct HostOrder {
  bool operator()(const HostRecord& a, const HostRecord& b) const {
    if (a.process != b.process) return a.process < b.process;
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.duration_ns != b.duration_ns) return a.duration_ns > b.duration_ns;
    return a.kind < b.kind;
  }
};

// One change of what the framework's allocator holds.
struct MemoryRecord {
  int64_t start_ns;
  ProcessIndex process;
  ThreadIndex thread;
  int64_t bytes;
  uint64_t address;
  int64_t total_allocated;
  int64_t total_reserved;
  int32_t device;
  uint32_t unused = 0;
};

struct MemoryOrder {
  bool operator()(const MemoryRecord& a, const MemoryRecord& b) const {
    if (a.process != b.process) return a.process < b.process;
    return a.start_ns < b.start_ns;
  }
};

// An API call with a correlation id, to be joined to device work.
struct CallRecord {
  uint64_t correlation;
  int64_t start_ns;
  int64_t duration_ns;
  ThreadIndex thread;
  NameId name;
  CallIndex call;
  uint32_t external_id;  // folded to 32 bits; 0: none
};

struct CallOrder {
  bool operator()(const CallRecord& a, const CallRecord& b) const {
    if (a.correlation != b.correlation) return a.correlation < b.correlation;
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return a.duration_ns > b.duration_ns;
  }
};

// Device work, a cuda_sync record or a range projected onto a stream.
struct DeviceRecord {
  uint64_t correlation;  // 0: none
  int64_t start_ns;
  int64_t duration_ns;
  int64_t bytes;
  uint64_t graph_node;
  uint32_t op;           // of TraceContents::ops
  uint32_t lane;         // of TraceContents::lanes
  uint32_t external_id;  // folded to 32 bits; 0: none
  uint32_t unused = 0;
};

struct CorrelationOrder {
  bool operator()(const DeviceRecord& a, const DeviceRecord& b) const {
    if (a.correlation != b.correlation) return a.correlation < b.correlation;
    return a.start_ns < b.start_ns;
  }
};

// A DeviceRecord whose process and launch are known.
struct JoinedRecord {
  DeviceRecord device;
  ProcessIndex process;
  ThreadIndex thread;  // of the launch; kNoIndex: no launch known, like the fields below
  CallIndex call;
  NameId call_name;
  int64_t launch_start_ns;
  int64_t launch_duration_ns;
};

struct EmitOrder {
  bool operator()(const JoinedRecord& a, const JoinedRecord& b) const {
    if (a.process != b.process) return a.process < b.process;
    if (a.device.start_ns != b.device.start_ns) return a.device.start_ns < b.device.start_ns;
    if (a.device.duration_ns != b.device.duration_ns) {
      return a.device.duration_ns > b.device.duration_ns;
    }
    return a.device.correlation < b.device.correlation;
  }
};

using HostSorter = ExternalSorter<HostRecord, HostOrder>;
using MemorySorter = ExternalSorter<MemoryRecord, MemoryOrder>;
using CallSorter = ExternalSorter<CallRecord, CallOrder>;
using DeviceSorter = ExternalSorter<DeviceRecord, CorrelationOrder>;
using JoinedSorter = ExternalSorter<JoinedRecord, EmitOrder>;

}  // namespace nanolane::ingest::kineto
