// What the simulated program did, as JSON lines: the ground truth that a capture of it is held
// against. A line is
//
//   {"call": "launch", "before": 12, "after": 34, "thread": 99, "name": "_Z3addPfS_i",
//    "correlation": 5, "device": 0, "stream": 13, "bytes": 0, "result": 0, "count": 1,
//    "domain": ""}
//
// with times of CLOCK_MONOTONIC, the operating system's thread ids, and CUPTI's numbers of
// correlations and streams. `count` above 1: so many calls of that kind, from before the first to
// after the last, `correlation` being the first one's.
//
// Thread-safe: lines collect per thread and are written when many, and at Flush by each thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

namespace nanolane::sim {

struct Deed {
  const char* call = "";    // static
  const char* name = "";    // lives as long as the process
  const char* domain = "";  // NVTX's; lives as long
  int64_t before_ns = 0;
  int64_t after_ns = 0;
  uint64_t bytes = 0;
  uint64_t count = 1;
  uint32_t correlation = 0;
  int32_t device = -1;  // -1: does not apply, as for the stream
  int64_t stream = -1;
  int32_t result = 0;
};

class Truth {
 public:
  // Null: the file cannot be made. An empty path: nothing is kept.
  static std::unique_ptr<Truth> Create(const std::string& path);
  ~Truth();

  void Add(const Deed& deed);
  // Writes what this thread has added.
  void Flush();
  // Of its file; -1: nothing is kept.
  int descriptor() const { return file_ == nullptr ? -1 : fileno(file_); }
  // fork, whose child keeps nothing.
  int Fork();

 private:
  explicit Truth(std::FILE* file) : file_(file) {}

  std::FILE* file_;  // null: nothing is kept
  std::mutex mutex_;
};

// The text as a pointer that lasts.
const char* Lasting(const std::string& text);

}  // namespace nanolane::sim
