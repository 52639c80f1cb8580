// Import of the Chrome traces that PyTorch's profiler (Kineto) writes: .json and .json.gz.
//
// What becomes an event: kernels, copies, memsets ("kernel", "gpu_memcpy", "gpu_memset"); syncs,
// which are "cuda_sync" records where the process has them, else its synchronizing API calls, never
// both; NVTX, which are "user_annotation" on a lane of their thread and "gpu_user_annotation" on a
// lane of their stream; memory, which are the allocator's instants on GPUs. API calls, operators
// and Python frames give those events their launch and stack: the last frame of a stack is the call
// itself.
//
// One session for each process that has events, or had events that were left out; device work
// belongs to the process whose calls launched it (launch_join.h says how collisions are settled).
// Times are the file's, in exact ns; Session.clock carries the base time. The session id comes from
// the inflated content and the process id: the same content, compressed or not, gives the same
// session.
//
// Whatever is odd about the file is told in `left_out`: events that were left out (suspect.h says
// which times are taken for faults), parts that could not be read, and what was kept but changed;
// reasons of the latter hold the word "kept". What is wrong with the file as a whole is told in
// each of its sessions. A file without any event of these kinds gives an empty list.
//
// Memory is flat: records beyond the budget are sorted on disk, in unlinked temporary files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/ingest/session_sink.h"

namespace nanolane::ingest {

struct ImportProgress {
  uint64_t bytes_read = 0;
  uint64_t bytes_total = 0;     // of the file as stored
  uint64_t events = 0;          // of the file, read so far
  uint64_t events_written = 0;  // to sinks; begins once the file is read
};

struct KinetoOptions {
  std::string project;
  size_t memory_budget_bytes = 256 << 20;               // for records between the passes
  std::string spill_dir;                                // empty: $TMPDIR, or /tmp
  std::function<void(const ImportProgress&)> progress;  // called by the importing thread
};

struct LeftOut {
  std::string reason;  // a sentence without its end, such as "kernel left out: the duration is …"
  uint64_t count = 0;
  std::optional<uint64_t> first_offset;  // in the inflated data
};

struct ImportedSession {
  std::string session_id;
  std::string project;
  uint64_t events = 0;
  // "kernel", "memcpy", "memset", "sync", "nvtx", "memory": each is there, if with 0.
  std::map<std::string, uint64_t> by_kind;
  std::vector<LeftOut> left_out;
  bool already_stored = false;  // nothing was written: the store has this session
};

// In order of the process ids. Errors: INVALID_ARGUMENT says what the file is instead of a trace;
// RESOURCE_EXHAUSTED: no room for temporary files; those of the file system and of the sink.
absl::StatusOr<std::vector<ImportedSession>> ImportKineto(const std::string& path,
                                                          SinkFactory& sinks,
                                                          const KinetoOptions& options);

}  // namespace nanolane::ingest
