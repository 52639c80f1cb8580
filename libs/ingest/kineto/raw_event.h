// One element of a trace's list of events, as far as the importer looks at it, and how it is read.
//
// Keys come in any order; keys that nobody needs are skipped, and so is all of `args` where the
// category, if it came first, says that nothing in it matters. Thread-compatible.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "libs/ingest/kineto/json_scanner.h"
#include "libs/trace/model.h"

namespace nanolane::ingest::kineto {

// Kineto's categories, by what the importer does with them.
enum class EventClass : uint8_t {
  kNone,   // no category seen
  kOther,  // not looked at
  kKernel,
  kMemcpy,
  kMemset,
  kCudaSync,
  kUserAnnotation,
  kGpuUserAnnotation,
  kMemoryInstant,
  kCpuOp,
  kPythonFunction,
  kRuntimeCall,
  kDriverCall,
};

// Of the category's text; older spellings ("Kernel", "Runtime", "Operator") included.
EventClass EventClassOf(std::string_view category);

// A process or thread id: a number, or what else the file has there.
struct RawId {
  int64_t number = 0;
  JsonText text;
  bool is_number = false;
};

// Keys of `args` that the importer looks at.
struct RawArgs {
  uint64_t correlation = 0;
  uint64_t external_id = 0;
  uint64_t graph_node = 0;
  uint64_t address = 0;
  int64_t device = -1;  // -1 also where the key is missing
  int64_t stream = -1;
  int64_t wait_on_stream = -1;
  int64_t context = 0;
  int64_t bytes = 0;  // "bytes" of copies and memsets, "Bytes" of memory instants
  int64_t device_type = -1;
  int64_t total_allocated = trace::kNoLevel;
  int64_t total_reserved = trace::kNoLevel;
  uint32_t registers = 0;
  uint32_t shared_memory = 0;
  std::array<uint32_t, 3> grid = {0, 0, 0};
  std::array<uint32_t, 3> block = {0, 0, 0};
  bool has_device = false;
  bool has_stream = false;
  // Texts; size 0: missing.
  JsonText name;    // of metadata: a process's name
  JsonText labels;  // of metadata
  JsonText kind;    // of a copy on AMD: "DtoD", "HostToDevice"
  JsonText sync_kind;
  JsonText collective;
  JsonText data_type;
  JsonText group_name;
  JsonText group_size;
};

// A time of the file in ns, or why there is none.
enum class TimeState : uint8_t { kMissing, kGood, kUnreadable };

struct RawEvent {
  uint64_t offset = 0;  // of its '{'
  char phase = '\0';    // '\0': none seen
  EventClass cls = EventClass::kNone;
  bool has_name = false;
  TimeState start_state = TimeState::kMissing;
  TimeState duration_state = TimeState::kMissing;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  JsonText name;
  RawId pid;
  RawId tid;
  RawArgs args;
};

// Reads the object whose '{' is next and pinned. False: scanner.error() says why.
bool ReadEvent(JsonScanner& scanner, RawEvent& event);

}  // namespace nanolane::ingest::kineto
