// How tests/gpu/harness.py talks to a workload: one command a line on standard input, one JSON
// object a line on standard output, the first of them when the workload has set up and is idle.
//
// Header-only, since the workloads are compiled by nvcc alone, one file each. A CUDA error ends the
// workload with a message that names the line, a crash with the stack of its thread.
#pragma once

#include <cuda_runtime.h>
#include <execinfo.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#define CHECK_CUDA(call)                                                 \
  do {                                                                   \
    const cudaError_t check_error = (call);                              \
    if (check_error != cudaSuccess) {                                    \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorString(check_error));                     \
      std::_Exit(3);                                                     \
    }                                                                    \
  } while (false)

namespace gpu_check {

inline int64_t ClockNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

inline int64_t NowNs() { return ClockNs(CLOCK_MONOTONIC); }

// The arguments of a command: whole numbers.
using Arguments = std::vector<int64_t>;
// Answers with the body of a JSON object, without its braces.
using Handler = std::function<std::string(const Arguments&)>;

inline std::string Field(const char* name, int64_t value) {
  return std::string("\"") + name + "\":" + std::to_string(value);
}

inline std::string Field(const char* name, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "\"%s\":%.3f", name, value);
  return text;
}

inline std::string Join(const std::vector<std::string>& fields) {
  std::string joined;
  for (const std::string& field : fields) joined += (joined.empty() ? "" : ",") + field;
  return joined;
}

inline void Answer(const std::string& body) {
  std::printf("{%s}\n", body.c_str());
  std::fflush(stdout);
}

// Says where the thread was, and lets the signal do its work.
inline void OnCrash(int number) {
  void* frames[64];
  const int count = backtrace(frames, 64);
  dprintf(STDERR_FILENO, "crash: signal %d, thread %d\n", number, static_cast<int>(gettid()));
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
  signal(number, SIG_DFL);
  raise(number);
}

inline void TellCrashes() {
  void* unused[1];
  backtrace(unused, 1);  // loads what it needs while that is safe
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE}) signal(number, OnCrash);
}

// Serves commands until "quit" or the end of the input.
inline void Serve(const std::map<std::string, Handler>& handlers) {
  TellCrashes();
  Answer(Join({"\"ready\":true", Field("pid", static_cast<int64_t>(getpid()))}));
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "quit") break;
    const auto handler = handlers.find(name);
    if (handler == handlers.end()) {
      Answer("\"error\":\"unknown command\"");
      continue;
    }
    Arguments arguments;
    for (int64_t value; words >> value;) arguments.push_back(value);
    Answer(handler->second(arguments));
  }
}

}  // namespace gpu_check
