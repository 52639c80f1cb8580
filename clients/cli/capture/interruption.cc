#include "clients/cli/capture/interruption.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace nanolane::cli {

Interruption::Interruption(std::function<void()> on_first) : on_first_(std::move(on_first)) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  signal_fd_ = ::signalfd(-1, &signals_, SFD_CLOEXEC);
  close_fd_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { Wait(); });
}

Interruption::~Interruption() {
  ::eventfd_write(close_fd_, 1);
  thread_.join();
  ::close(signal_fd_);
  ::close(close_fd_);
}

void Interruption::Wait() {
  pollfd fds[] = {{signal_fd_, POLLIN, 0}, {close_fd_, POLLIN, 0}};
  while (::poll(fds, 2, -1) < 0 && errno == EINTR) {
  }
  if ((fds[0].revents & POLLIN) == 0) return;
  signalfd_siginfo taken;
  if (::read(signal_fd_, &taken, sizeof(taken)) != sizeof(taken)) return;
  // From here on this thread takes them as they are meant: they end the program, also while the
  // callback waits for an answer that does not come.
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  on_first_();
  // The thread stays for as long as somebody may wait: with it gone, nobody would take the signals.
  pollfd closing = {close_fd_, POLLIN, 0};
  while (::poll(&closing, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace nanolane::cli
