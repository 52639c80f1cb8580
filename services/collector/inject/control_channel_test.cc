#include "services/collector/inject/control_channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "catch2/catch.hpp"
#include "services/collector/inject/environment.h"
#include "services/collector/inject/testing/hand_collector.h"

namespace nanolane::inject {
namespace {

int NewFile() { return open("/tmp", O_TMPFILE | O_RDWR, 0600); }

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

struct Got {
  ControlChannel::Received received;
  size_t bytes = 0;
  int descriptor = -1;
  alignas(8) char message[wire::kMaxMessageBytes] = {};
};

Got Receive(ControlChannel& channel) {
  Got got{};
  got.received = channel.Receive(got.message, sizeof(got.message), &got.bytes, &got.descriptor);
  return got;
}

}  // namespace

TEST_CASE("a descriptor that the process has closed is not used") {
  OwnDescriptor own;
  CHECK(own.get() == -1);
  own.Take(NewFile());
  const int fd = own.get();
  REQUIRE(fd >= 500);
  CHECK(own.get() == fd);
  close(fd);
  CHECK(own.get() == -1);
  own.Close();
}

TEST_CASE("a descriptor that the process has replaced is neither used nor closed") {
  OwnDescriptor own;
  own.Take(NewFile());
  const int fd = own.get();
  const int theirs = NewFile();
  REQUIRE(dup2(theirs, fd) == fd);
  CHECK(own.get() == -1);
  own.Close();
  CHECK(IsOpen(fd));
  own.Take(NewFile());
  CHECK(own.get() >= 0);
  CHECK(own.get() != fd);
  own.Close();
  close(fd);
  close(theirs);
}

TEST_CASE("taking and releasing a descriptor") {
  OwnDescriptor own;
  own.Take(-1);
  CHECK(own.get() == -1);
  const int closed = NewFile();
  close(closed);
  own.Take(closed);
  CHECK(own.get() == -1);
  own.Take(NewFile());
  const int fd = own.Release();
  CHECK(IsOpen(fd));
  CHECK(own.get() == -1);
  close(fd);
  own.Take(NewFile());
  const int second = own.get();
  own.Close();
  CHECK_FALSE(IsOpen(second));
}

TEST_CASE("nobody at the socket's path is no connection") {
  const HandCollector collector;
  ControlChannel channel;
  setenv("NANOLANE_SOCKET", (collector.path() + ".other").c_str(), 1);
  CopyEnvironment();
  CHECK_FALSE(channel.Connect());
  setenv("NANOLANE_SOCKET", std::string(500, 'x').c_str(), 1);
  CopyEnvironment();
  CHECK_FALSE(channel.Connect());
  CHECK(channel.fd() == -1);
  wire::Stop stop{};
  CHECK_FALSE(channel.Send(wire::MessageType::kStop, &stop, sizeof(stop)));
}

TEST_CASE("messages go whole, with their descriptors") {
  HandCollector collector;
  ControlChannel channel;
  REQUIRE(channel.Connect());
  HandPeer peer = collector.Accept();
  CHECK(Receive(channel).received == ControlChannel::Received::kNothing);

  wire::Hello hello{};
  const int file = NewFile();
  REQUIRE(channel.Send(wire::MessageType::kHello, &hello, sizeof(hello), file));
  const HandMessage got = peer.Receive();
  CHECK(got.type() == wire::MessageType::kHello);
  CHECK(got.bytes.size() == sizeof(hello));
  struct stat theirs {};
  struct stat ours {};
  REQUIRE(got.descriptor >= 0);
  fstat(got.descriptor, &theirs);
  fstat(file, &ours);
  CHECK(theirs.st_ino == ours.st_ino);
  close(got.descriptor);

  peer.Send(wire::MessageType::kStop, wire::Stop{}, file);
  const Got answer = Receive(channel);
  REQUIRE(answer.received == ControlChannel::Received::kMessage);
  CHECK(answer.bytes == sizeof(wire::Stop));
  CHECK(answer.descriptor >= 0);
  close(answer.descriptor);
  close(file);
}

TEST_CASE("what breaks the frame ends the connection") {
  HandCollector collector;
  ControlChannel channel;
  REQUIRE(channel.Connect());
  HandPeer peer = collector.Accept();
  wire::Stop stop{};
  stop.header = {.magic = wire::kMagic,
                 .protocol = wire::kProtocol,
                 .type = static_cast<uint16_t>(wire::MessageType::kStop),
                 .size = sizeof(stop),
                 .unused = 0};
  std::string bytes(reinterpret_cast<const char*>(&stop), sizeof(stop));
  switch (GENERATE(0, 1, 2, 3, 4, 5)) {
    case 0: bytes[0] = 'x'; break;                              // magic
    case 1: bytes[4] = 77; break;                               // protocol
    case 2: bytes[8] = 1; break;                                // size
    case 3: bytes.resize(10); break;                            // less than a header
    case 4: bytes.resize(sizeof(wire::Gpus) + 8, '\0'); break;  // more than any message
    default: bytes.clear(); break;                              // the other side has gone
  }
  const int file = NewFile();
  if (bytes.empty()) {
    peer.Close();
  } else {
    peer.SendRaw(bytes, file);
  }
  const Got got = Receive(channel);
  CHECK(got.received == ControlChannel::Received::kBroken);
  CHECK(got.descriptor == -1);
  CHECK(channel.fd() == -1);
  close(file);
}

TEST_CASE("descriptors that come in one message with others, or unasked, do not leak") {
  HandCollector collector;
  ControlChannel channel;
  REQUIRE(channel.Connect());
  HandPeer peer = collector.Accept();
  const int file = NewFile();
  const auto count_open = [] {
    int count = 0;
    for (int fd = 0; fd < 2'000; ++fd) count += IsOpen(fd) ? 1 : 0;
    return count;
  };
  const int before = count_open();
  peer.SendManyDescriptors(wire::MessageType::kStop, wire::Stop{}, {file, file, file});
  const Got got = Receive(channel);
  if (got.descriptor >= 0) close(got.descriptor);
  const int after = count_open();
  // The connection may be given up over it.
  CHECK(after <= before);
  close(file);
}

TEST_CASE("a socket that the process has replaced gets nothing") {
  HandCollector collector;
  ControlChannel channel;
  REQUIRE(channel.Connect());
  HandPeer peer = collector.Accept();
  int pair[2] = {-1, -1};
  REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
  const int fd = channel.fd();
  REQUIRE(dup2(pair[0], fd) == fd);
  wire::Hello hello{};
  CHECK_FALSE(channel.Send(wire::MessageType::kHello, &hello, sizeof(hello)));
  char byte = 0;
  CHECK(recv(pair[1], &byte, 1, MSG_DONTWAIT) < 0);
  CHECK(Receive(channel).received == ControlChannel::Received::kBroken);
  channel.Close();
  CHECK(IsOpen(fd));
  close(fd);
  close(pair[0]);
  close(pair[1]);
}

TEST_CASE("a collector that does not read is given up") {
  HandCollector collector;
  ControlChannel channel;
  REQUIRE(channel.Connect());
  HandPeer peer = collector.Accept();
  wire::Gpus gpus{};
  bool sent = true;
  for (int i = 0; i < 100'000 && sent; ++i) {
    sent = channel.Send(wire::MessageType::kGpus, &gpus, sizeof(gpus));
  }
  CHECK_FALSE(sent);
  CHECK(channel.fd() == -1);
}

}  // namespace nanolane::inject
