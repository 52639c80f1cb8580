// A collector by hand, for tests of the library: a socket at a path of its own (NANOLANE_SOCKET),
// and messages one at a time. Receiving waits, within a bound.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "services/collector/inject/environment.h"
#include "services/collector/inject/wire.h"
#include "tests/support/temp_folder.h"

namespace nanolane::inject {

inline constexpr int kHandPatienceMs = 10'000;

struct HandMessage {
  std::string bytes;  // empty: the other side has gone
  int descriptor = -1;

  wire::MessageType type() const {
    return static_cast<wire::MessageType>(As<wire::MessageHeader>().type);
  }
  template <typename Message>
  Message As() const {
    Message message;
    REQUIRE(bytes.size() >= sizeof(message));
    memcpy(&message, bytes.data(), sizeof(message));
    return message;
  }
};

// One connection.
class HandPeer {
 public:
  explicit HandPeer(int fd) : fd_(fd) {}
  ~HandPeer() { Close(); }
  HandPeer(HandPeer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  HandPeer& operator=(HandPeer&& other) noexcept {
    Close();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }

  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

  HandMessage Receive() const {
    pollfd waited = {.fd = fd_, .events = POLLIN, .revents = 0};
    REQUIRE(poll(&waited, 1, kHandPatienceMs) == 1);
    HandMessage message;
    message.bytes.resize(2 * wire::kMaxMessageBytes);
    iovec part = {.iov_base = message.bytes.data(), .iov_len = message.bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr parts{};
    parts.msg_iov = &part;
    parts.msg_iovlen = 1;
    parts.msg_control = control;
    parts.msg_controllen = sizeof(control);
    const ssize_t got = recvmsg(fd_, &parts, MSG_CMSG_CLOEXEC);
    message.bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
    if (const cmsghdr* rights = CMSG_FIRSTHDR(&parts); got > 0 && rights != nullptr) {
      memcpy(&message.descriptor, CMSG_DATA(rights), sizeof(int));
    }
    return message;
  }

  template <typename Message>
  Message Expect(wire::MessageType type, int* descriptor = nullptr) const {
    const HandMessage message = Receive();
    REQUIRE_FALSE(message.bytes.empty());
    REQUIRE(message.type() == type);
    REQUIRE(message.bytes.size() == sizeof(Message));
    if (descriptor != nullptr) {
      *descriptor = message.descriptor;
    } else if (message.descriptor >= 0) {
      close(message.descriptor);
    }
    return message.As<Message>();
  }

  template <typename Message>
  void Send(wire::MessageType type, const Message& message, int descriptor = -1) const {
    SendManyDescriptors(type, message,
                        descriptor >= 0 ? std::vector<int>{descriptor} : std::vector<int>());
  }
  template <typename Message>
  void SendManyDescriptors(wire::MessageType type, Message message,
                           const std::vector<int>& descriptors) const {
    message.header = {.magic = wire::kMagic,
                      .protocol = wire::kProtocol,
                      .type = static_cast<uint16_t>(type),
                      .size = sizeof(message),
                      .unused = 0};
    SendBytes(std::string(reinterpret_cast<const char*>(&message), sizeof(message)), descriptors);
  }
  void SendRaw(const std::string& bytes, int descriptor = -1) const {
    SendBytes(bytes, descriptor >= 0 ? std::vector<int>{descriptor} : std::vector<int>());
  }

 private:
  void SendBytes(std::string bytes, const std::vector<int>& descriptors) const {
    iovec part = {.iov_base = bytes.data(), .iov_len = bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
    msghdr parts{};
    parts.msg_iov = &part;
    parts.msg_iovlen = 1;
    if (!descriptors.empty()) {
      const size_t size = descriptors.size() * sizeof(int);
      parts.msg_control = control;
      parts.msg_controllen = CMSG_SPACE(size);
      cmsghdr* const rights = CMSG_FIRSTHDR(&parts);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(size);
      memcpy(CMSG_DATA(rights), descriptors.data(), size);
    }
    REQUIRE(sendmsg(fd_, &parts, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }

  int fd_;
};

class HandCollector {
 public:
  HandCollector() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, path().c_str());
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    REQUIRE(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(listen(listener_, 8) == 0);
    setenv("NANOLANE_SOCKET", path().c_str(), 1);
    CopyEnvironment();
  }
  ~HandCollector() { close(listener_); }
  HandCollector(const HandCollector&) = delete;
  HandCollector& operator=(const HandCollector&) = delete;

  std::string path() const { return folder_.path() + "/collector.sock"; }

  HandPeer Accept() const {
    pollfd waited = {.fd = listener_, .events = POLLIN, .revents = 0};
    REQUIRE(poll(&waited, 1, kHandPatienceMs) == 1);
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    REQUIRE(fd >= 0);
    return HandPeer(fd);
  }

 private:
  const testing::TempFolder folder_;
  int listener_ = -1;
};

}  // namespace nanolane::inject
