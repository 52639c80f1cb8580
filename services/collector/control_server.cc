#include "services/collector/control_server.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include "libs/base/log.h"
#include "libs/base/str_cat.h"

namespace nanolane::collector {
namespace {

constexpr int kMostAtOnce = 64;
constexpr ConnectionId kListener = 0;
constexpr ConnectionId kWake = ~ConnectionId{0};

std::string ErrorText(int error) { return std::strerror(error); }

// Whether a server answers there.
bool Answers(const sockaddr_un& address) {
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const bool answers =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
      errno == EAGAIN;
  close(fd);
  return answers;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControlServer>> ControlServer::Listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(
        base::StrCat("the socket's path ", path, " is too long: it may have ",
                     sizeof(address.sun_path) - 1, " bytes; name another with --socket"));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return absl::InternalError(base::StrCat("no socket: ", ErrorText(errno)));
  if (Answers(address)) {
    close(fd);
    return absl::AlreadyExistsError(
        base::StrCat("another collector answers at ", path, "; name another with --socket"));
  }
  struct stat file {};
  if (lstat(path.c_str(), &file) == 0 && !S_ISSOCK(file.st_mode)) {
    close(fd);
    return absl::PermissionDeniedError(base::StrCat(
        path, " is a file, not a collector's socket; remove it or name another with --socket"));
  }
  unlink(path.c_str());
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      chmod(path.c_str(), 0666) != 0 || listen(fd, 256) != 0) {
    const std::string why = ErrorText(errno);
    close(fd);
    return absl::PermissionDeniedError(base::StrCat("cannot make the collector's socket ", path,
                                                    ": ", why, "; name another with --socket"));
  }
  return std::unique_ptr<ControlServer>(new ControlServer(path, fd));
}

ControlServer::~ControlServer() {
  Stop();
  close(listener_);
  unlink(path_.c_str());
}

absl::Status ControlServer::Start(Delegate& delegate) {
  delegate_ = &delegate;
  poller_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (poller_ < 0 || wake_ < 0) return absl::InternalError("no descriptors are left");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kListener;
  if (epoll_ctl(poller_, EPOLL_CTL_ADD, listener_, &event) != 0) {
    return absl::InternalError(base::StrCat("epoll: ", ErrorText(errno)));
  }
  event.data.u64 = kWake;
  if (epoll_ctl(poller_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    return absl::InternalError(base::StrCat("epoll: ", ErrorText(errno)));
  }
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

void ControlServer::Stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    if (write(wake_, &one, sizeof(one)) != sizeof(one)) {
      base::LogError("collector", "cannot wake the control thread");
    }
    thread_.join();
  }
  if (poller_ >= 0) close(std::exchange(poller_, -1));
  if (wake_ >= 0) close(std::exchange(wake_, -1));
  base::MutexLock lock(mutex_);
  for (const auto& [connection, fd] : connections_) close(fd);
  connections_.clear();
}

void ControlServer::Run() {
  using Clock = std::chrono::steady_clock;
  std::array<epoll_event, 64> events{};
  auto next_tick = Clock::now() + std::chrono::milliseconds(kTickMs);
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(next_tick - Clock::now()).count();
    const int ready = epoll_wait(poller_, events.data(), events.size(),
                                 static_cast<int>(left < 0 ? 0 : left + 1));
    for (int i = 0; i < ready; ++i) {
      const ConnectionId id = events[static_cast<size_t>(i)].data.u64;
      if (id == kWake) return;
      if (id == kListener) {
        Accept();
        continue;
      }
      int fd = -1;
      {
        base::MutexLock lock(mutex_);
        const auto found = connections_.find(id);
        if (found != connections_.end()) fd = found->second;
      }
      if (fd >= 0 && !Read(id, fd)) CloseConnection(id);
    }
    if (Clock::now() >= next_tick) {
      delegate_->OnTick();
      next_tick = Clock::now() + std::chrono::milliseconds(kTickMs);
    }
  }
}

// The rest waits for the next time round: nobody keeps the thread to himself.
void ControlServer::Accept() {
  for (int accepted = 0; accepted < kMostAtOnce; ++accepted) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      if (errno == EMFILE || errno == ENFILE)
        base::LogWarning("collector", "no descriptors are left");
      return;
    }
    ucred peer{};
    socklen_t size = sizeof(peer);
    const ConnectionId id = next_++;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = id;
    {
      base::MutexLock lock(mutex_);
      if (connections_.size() >= kMaxConnections ||
          getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0) {
        close(fd);
        continue;
      }
      connections_[id] = fd;
    }
    // Before the descriptor is waited for: the delegate hears of a connection before its messages.
    delegate_->OnConnected(id, {.pid = static_cast<uint64_t>(peer.pid), .uid = peer.uid});
    if (epoll_ctl(poller_, EPOLL_CTL_ADD, fd, &event) != 0) CloseConnection(id);
  }
}

bool ControlServer::Read(ConnectionId connection, int fd) {
  alignas(8) std::array<std::byte, wire::kMaxMessageBytes> message;
  for (int messages = 0; messages < kMostAtOnce; ++messages) {
    iovec part = {.iov_base = message.data(), .iov_len = message.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 4)> control{};
    msghdr parts{};
    parts.msg_iov = &part;
    parts.msg_iovlen = 1;
    parts.msg_control = control.data();
    parts.msg_controllen = control.size();
    const ssize_t bytes = recvmsg(fd, &parts, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (bytes < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    int descriptor = -1;
    for (cmsghdr* rights = CMSG_FIRSTHDR(&parts); rights != nullptr;
         rights = CMSG_NXTHDR(&parts, rights)) {
      if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) continue;
      const size_t count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int one = -1;
        std::memcpy(&one, CMSG_DATA(rights) + i * sizeof(int), sizeof(int));
        // One is what the protocol has; whatever else comes is not kept open.
        if (descriptor >= 0)
          close(std::exchange(descriptor, one));
        else
          descriptor = one;
      }
    }
    wire::MessageHeader header{};
    const bool whole = bytes >= static_cast<ssize_t>(sizeof(header)) &&
                       (parts.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    if (whole) std::memcpy(&header, message.data(), sizeof(header));
    if (!whole || header.magic != wire::kMagic || header.protocol != wire::kProtocol ||
        header.size != static_cast<uint32_t>(bytes)) {
      if (descriptor >= 0) close(descriptor);
      if (bytes > 0) {
        base::LogWarning("collector",
                         "a process speaks another protocol: its injection library is of another "
                         "version of Nanolane");
      }
      return false;
    }
    delegate_->OnMessage(connection, message.data(), static_cast<size_t>(bytes), descriptor);
  }
  return true;
}

void ControlServer::CloseConnection(ConnectionId connection) {
  {
    base::MutexLock lock(mutex_);
    const auto found = connections_.find(connection);
    if (found == connections_.end()) return;
    close(found->second);
    connections_.erase(found);
  }
  delegate_->OnClosed(connection);
}

absl::Status ControlServer::SendBytes(ConnectionId connection, const void* message, size_t bytes,
                                      int descriptor) {
  iovec part = {.iov_base = const_cast<void*>(message), .iov_len = bytes};
  msghdr parts{};
  parts.msg_iov = &part;
  parts.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor >= 0) {
    parts.msg_control = control.data();
    parts.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&parts);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof(int));
  }
  // Under the lock, so that the descriptor is still this connection's. Never blocks.
  base::MutexLock lock(mutex_);
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return absl::UnavailableError("the process has gone");
  if (sendmsg(found->second, &parts, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes)) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(base::StrCat("the process takes no messages: ", ErrorText(errno)));
}

}  // namespace nanolane::collector
