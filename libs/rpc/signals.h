// SIGTERM and SIGINT as something to wait for, so that a server ends in order.
#pragma once

#include <csignal>

namespace nanolane::rpc {

// Blocks the two signals in the thread that makes it, and in those it starts: make it first.
class StopSignal {
 public:
  StopSignal() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }

  // Until one of them arrives.
  void Wait() const {
    int signal = 0;
    while (sigwait(&signals_, &signal) != 0) {
    }
  }

 private:
  sigset_t signals_{};
};

}  // namespace nanolane::rpc
