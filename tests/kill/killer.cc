#include "tests/kill/killer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace nanolane::testing {
namespace {

// A file comes, goes, gets its name, or is complete.
constexpr uint32_t kSteps = IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_CLOSE_WRITE;

}  // namespace

const char* ToString(KillAt at) {
  constexpr std::array<const char*, kKillAtCount> kNames = {
      "send", "acknowledgement", "end", "deletion", "seal", "file"};
  return kNames[static_cast<size_t>(at)];
}

void Killer::Arm(pid_t pid, const Moment& moment, const std::string& folder) {
  Disarm();
  pid_ = pid;
  at_ = moment.at;
  left_ = moment.count;
  further_left_ = moment.further;
  fired_ = false;
  armed_ = true;
  const int notify = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  ::inotify_add_watch(notify, folder.c_str(), kSteps | IN_MODIFY);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  watcher_ = std::thread([this, notify] { Watch(notify); });
}

void Killer::Watch(int notify) {
  alignas(inotify_event) std::array<char, 4'096> buffer;
  while (true) {
    std::array<pollfd, 2> wait = {pollfd{.fd = notify, .events = POLLIN, .revents = 0},
                                  pollfd{.fd = stop_, .events = POLLIN, .revents = 0}};
    ::poll(wait.data(), wait.size(), -1);
    if (wait[1].revents != 0) break;
    const ssize_t bytes = ::read(notify, buffer.data(), buffer.size());
    for (ssize_t at = 0; at < bytes;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      SawChange();
      if ((event->mask & kSteps) != 0) Saw(KillAt::kFile);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  ::close(notify);
}

void Killer::Saw(KillAt what) {
  if (what == at_ && --left_ == 0 && further_left_ == 0) Fire();
}

void Killer::SawChange() {
  if (left_ <= 0 && further_left_ > 0 && --further_left_ == 0) Fire();
}

void Killer::Fire() {
  if (!armed_ || fired_.exchange(true)) return;
  ::kill(pid_, SIGKILL);
}

void Killer::Disarm() {
  armed_ = false;
  if (!watcher_.joinable()) return;
  const uint64_t one = 1;
  if (::write(stop_, &one, sizeof(one)) != sizeof(one)) std::terminate();
  watcher_.join();
  ::close(stop_);
}

}  // namespace nanolane::testing
