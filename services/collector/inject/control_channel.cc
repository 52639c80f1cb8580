#include "services/collector/inject/control_channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "services/collector/inject/environment.h"

namespace nanolane::inject {

void OwnDescriptor::Take(int fd) {
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0) {
    fd_ = -1;
    return;
  }
  // Out of the way of programs that count on the lowest numbers.
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, 500);
  if (high >= 0) {
    close(fd);
    fd = high;
  }
  fd_ = fd;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

int OwnDescriptor::get() const {
  struct stat status {};
  if (fd_ < 0 || fstat(fd_, &status) != 0) return -1;
  return status.st_dev == device_ && status.st_ino == inode_ ? fd_ : -1;
}

void OwnDescriptor::Close() {
  const int fd = get();
  if (fd >= 0) close(fd);
  fd_ = -1;
}

int OwnDescriptor::Release() {
  const int fd = get();
  fd_ = -1;
  return fd;
}

bool ControlChannel::Connect() {
  Close();
  const char* path = ValueOf(Variable::kSocket);
  if (path == nullptr) path = wire::kDefaultSocket;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof(address.sun_path)) return false;
  strcpy(address.sun_path, path);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(fd);
    return false;
  }
  socket_.Take(fd);
  return socket_.get() >= 0;
}

bool ControlChannel::Send(wire::MessageType type, void* message, size_t bytes, int descriptor) {
  const int fd = socket_.get();
  if (fd < 0) return false;
  auto* header = static_cast<wire::MessageHeader*>(message);
  *header = {.magic = wire::kMagic,
             .protocol = wire::kProtocol,
             .type = static_cast<uint16_t>(type),
             .size = static_cast<uint32_t>(bytes),
             .unused = 0};
  iovec part = {.iov_base = message, .iov_len = bytes};
  msghdr parts{};
  parts.msg_iov = &part;
  parts.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor >= 0) {
    parts.msg_control = control;
    parts.msg_controllen = sizeof(control);
    cmsghdr* rights = CMSG_FIRSTHDR(&parts);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &descriptor, sizeof(int));
  }
  // A collector that does not read is as good as none: messages are few and small.
  if (sendmsg(fd, &parts, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes)) return true;
  Close();
  return false;
}

ControlChannel::Received ControlChannel::Receive(void* message, size_t room, size_t* bytes,
                                                 int* descriptor) {
  *descriptor = -1;
  const int fd = socket_.get();
  if (fd < 0) return Received::kBroken;
  iovec part = {.iov_base = message, .iov_len = room};
  msghdr parts{};
  parts.msg_iov = &part;
  parts.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  parts.msg_control = control;
  parts.msg_controllen = sizeof(control);
  const ssize_t got = recvmsg(fd, &parts, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return Received::kNothing;
  }
  for (cmsghdr* rights = got > 0 ? CMSG_FIRSTHDR(&parts) : nullptr; rights != nullptr;
       rights = CMSG_NXTHDR(&parts, rights)) {
    if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      // One is what the protocol has; the room for it may hold two.
      if (*descriptor >= 0) close(*descriptor);
      memcpy(descriptor, CMSG_DATA(rights) + i * sizeof(int), sizeof(int));
    }
  }
  const auto* header = static_cast<const wire::MessageHeader*>(message);
  const bool whole = got >= static_cast<ssize_t>(sizeof(wire::MessageHeader)) &&
                     (parts.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 &&
                     header->magic == wire::kMagic && header->protocol == wire::kProtocol &&
                     header->size == static_cast<uint32_t>(got);
  if (whole) {
    *bytes = static_cast<size_t>(got);
    return Received::kMessage;
  }
  if (*descriptor >= 0) close(*descriptor);
  *descriptor = -1;
  Close();
  return Received::kBroken;
}

}  // namespace nanolane::inject
