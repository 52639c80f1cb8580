// The facts that stand beside a trace's list of events: base time, GPUs, rank, host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libs/ingest/kineto/json_scanner.h"

namespace nanolane::ingest::kineto {

struct DeviceFacts {
  int64_t id = 0;
  std::string name;
  uint64_t memory_bytes = 0;
};

struct TraceFacts {
  bool has_base_time = false;
  int64_t base_time_ns = 0;
  std::vector<DeviceFacts> devices;
  std::string host;
  // Label and value: rank, world_size, backend, trace_name, trace_id.
  std::vector<std::pair<std::string, std::string>> labels;
};

// Reads the value of the top-level key `key`, which is next; most keys mean nothing and are
// skipped. False: scanner.error() says why.
bool ReadFact(JsonScanner& scanner, std::string_view key, TraceFacts& facts);

}  // namespace nanolane::ingest::kineto
