// SIGINT and SIGTERM as a request to end what is being waited for: the first one calls back, every
// further one does what it does to any program, so that one that hangs can still be ended.
#pragma once

#include <signal.h>

#include <functional>
#include <thread>

namespace nanolane::cli {

// Blocks the signals in the thread that makes it, and in those that are started afterwards: make it
// before there are others, or they will take the signals. The destructor waits for a callback that
// runs, and leaves the signals blocked.
class Interruption {
 public:
  // Called once at most, on a thread of its own.
  explicit Interruption(std::function<void()> on_first);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

 private:
  void Wait();

  const std::function<void()> on_first_;
  sigset_t signals_{};
  int signal_fd_ = -1;
  int close_fd_ = -1;  // readable once the destructor runs
  std::thread thread_;
};

}  // namespace nanolane::cli
