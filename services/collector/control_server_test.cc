#include "services/collector/control_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "libs/base/mutex.h"
#include "services/collector/testing/scripted_library.h"
#include "tests/support/temp_folder.h"

namespace nanolane::collector {
namespace {

constexpr std::chrono::seconds kSoon(20);

// Keeps what it hears.
class Log final : public ControlServer::Delegate {
 public:
  struct Message {
    ConnectionId connection;
    wire::MessageType type;
    size_t bytes;
    bool has_descriptor;
  };

  void OnConnected(ConnectionId connection, const Peer& peer) override {
    base::MutexLock lock(mutex_);
    open_.insert(connection);
    last_ = connection;
    peer_ = peer;
    changed_.NotifyAll();
  }
  void OnMessage(ConnectionId connection, const std::byte* message, size_t bytes,
                 int descriptor) override {
    wire::MessageHeader header;
    std::memcpy(&header, message, sizeof(header));
    if (descriptor >= 0) close(descriptor);
    base::MutexLock lock(mutex_);
    messages_.push_back(
        {connection, static_cast<wire::MessageType>(header.type), bytes, descriptor >= 0});
    changed_.NotifyAll();
  }
  void OnClosed(ConnectionId connection) override {
    base::MutexLock lock(mutex_);
    open_.erase(connection);
    ++closed_;
    changed_.NotifyAll();
  }
  void OnTick() override {
    base::MutexLock lock(mutex_);
    ++ticks_;
    changed_.NotifyAll();
  }

  ConnectionId WaitConnected(size_t count = 1) {
    base::MutexLock lock(mutex_);
    REQUIRE(changed_.WaitFor(mutex_, kSoon, [this, count]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return open_.size() >= count;
    }));
    return last_;
  }
  std::vector<Message> WaitMessages(size_t count) {
    base::MutexLock lock(mutex_);
    REQUIRE(changed_.WaitFor(mutex_, kSoon, [this, count]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return messages_.size() >= count;
    }));
    return messages_;
  }
  void WaitClosed(int count) {
    base::MutexLock lock(mutex_);
    REQUIRE(changed_.WaitFor(mutex_, kSoon, [this, count]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return closed_ >= count;
    }));
  }
  void WaitTicks(int count) {
    base::MutexLock lock(mutex_);
    REQUIRE(changed_.WaitFor(
        mutex_, kSoon, [this, count]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return ticks_ >= count; }));
  }
  Peer peer() {
    base::MutexLock lock(mutex_);
    return peer_;
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::set<ConnectionId> open_ ABSL_GUARDED_BY(mutex_);
  ConnectionId last_ ABSL_GUARDED_BY(mutex_) = 0;
  Peer peer_ ABSL_GUARDED_BY(mutex_);
  std::vector<Message> messages_ ABSL_GUARDED_BY(mutex_);
  int closed_ ABSL_GUARDED_BY(mutex_) = 0;
  int ticks_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct Rig {
  Rig() : server(*ControlServer::Listen(folder.path() + "/inner/socket")) {
    REQUIRE(server->Start(log).ok());
  }
  HandPeer Dial() const { return DialCollector(server->path()); }

  const testing::TempFolder folder;
  Log log;
  std::unique_ptr<ControlServer> server;
};

int OpenDescriptors() {
  int count = 0;
  for (int fd = 0; fd < 1'024; ++fd) count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

std::string Frame(uint32_t size) {
  wire::MessageHeader header = {.magic = wire::kMagic,
                                .protocol = wire::kProtocol,
                                .type = static_cast<uint16_t>(wire::MessageType::kStopped),
                                .size = size,
                                .unused = 0};
  std::string bytes(std::max<size_t>(size, sizeof(header)), '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  bytes.resize(size);
  return bytes;
}

}  // namespace

TEST_CASE("messages are handed on whole, with who sent them") {
  Rig rig;
  const HandPeer peer = rig.Dial();
  const ConnectionId connection = rig.log.WaitConnected();
  CHECK(rig.log.peer().pid == static_cast<uint64_t>(getpid()));
  CHECK(rig.log.peer().uid == getuid());
  peer.Send(wire::MessageType::kHello, wire::Hello{}, STDIN_FILENO);
  peer.Send(wire::MessageType::kGpus, wire::Gpus{});
  peer.Send(static_cast<wire::MessageType>(4'000), wire::Stop{});
  const auto messages = rig.log.WaitMessages(3);
  CHECK(messages[0].type == wire::MessageType::kHello);
  CHECK(messages[0].has_descriptor);
  CHECK(messages[1].bytes == sizeof(wire::Gpus));
  CHECK_FALSE(messages[1].has_descriptor);
  CHECK(messages[2].connection == connection);

  wire::Stop stop{};
  stop.session[3] = 7;
  REQUIRE(rig.server->Send(connection, wire::MessageType::kStop, stop, STDIN_FILENO).ok());
  int descriptor = -1;
  CHECK(peer.Expect<wire::Stop>(wire::MessageType::kStop, &descriptor).session[3] == 7);
  REQUIRE(descriptor >= 0);
  close(descriptor);
  rig.log.WaitTicks(1);
}

TEST_CASE("a connection that breaks the frame is closed, the others live on") {
  Rig rig;
  const HandPeer other = rig.Dial();
  HandPeer peer = rig.Dial();
  rig.log.WaitConnected(2);
  std::string bytes = Frame(sizeof(wire::Stopped));
  switch (GENERATE(0, 1, 2, 3, 4, 5)) {
    case 0: bytes[0] = 'x'; break;                                  // magic
    case 1: bytes[4] = 99; break;                                   // protocol
    case 2: bytes[8] = 1; break;                                    // size
    case 3: bytes = Frame(sizeof(wire::MessageHeader) - 1); break;  // no header
    case 4: bytes = Frame(sizeof(wire::Gpus) + 1); break;           // truncated on arrival
    default: bytes.clear(); break;
  }
  const int before = OpenDescriptors();
  if (bytes.empty()) {
    peer.Close();
  } else {
    peer.SendRaw(bytes, STDIN_FILENO);
    CHECK(peer.Receive().bytes.empty());
  }
  rig.log.WaitClosed(1);
  CHECK(OpenDescriptors() < before);
  other.Send(wire::MessageType::kStopped, wire::Stopped{});
  CHECK(rig.log.WaitMessages(1)[0].type == wire::MessageType::kStopped);
}

TEST_CASE("descriptors beyond the one that a message may have are not kept") {
  Rig rig;
  const HandPeer peer = rig.Dial();
  rig.log.WaitConnected();
  const int before = OpenDescriptors();
  peer.SendManyDescriptors(wire::MessageType::kHello, wire::Hello{}, {0, 0, 0});
  rig.log.WaitMessages(1);
  CHECK(OpenDescriptors() == before);
  peer.SendManyDescriptors(wire::MessageType::kHello, wire::Hello{}, {0, 0, 0, 0, 0, 0, 0, 0});
  // More than there is room for.
  CHECK(peer.Receive().bytes.empty());
  rig.log.WaitClosed(1);
  CHECK(OpenDescriptors() < before);
}

TEST_CASE("a second server of a path is refused, and the first one stays") {
  Rig rig;
  const auto second = ControlServer::Listen(rig.server->path());
  CHECK(absl::IsAlreadyExists(second.status()));
  const HandPeer peer = rig.Dial();
  rig.log.WaitConnected();
}

TEST_CASE("a socket that nobody answers at is replaced") {
  const testing::TempFolder folder;
  const std::string path = folder.path() + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  const int stale = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  REQUIRE(bind(stale, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  close(stale);
  auto server = ControlServer::Listen(path);
  REQUIRE(server.ok());
  struct stat file {};
  REQUIRE(stat(path.c_str(), &file) == 0);
  CHECK((file.st_mode & 0777) == 0666);
  Log log;
  REQUIRE((*server)->Start(log).ok());
  {
    const HandPeer peer = DialCollector(path);
    log.WaitConnected();
  }
  server->reset();
  CHECK(access(path.c_str(), F_OK) != 0);
}

TEST_CASE("paths that no socket can have") {
  const testing::TempFolder folder;
  CHECK(absl::IsInvalidArgument(ControlServer::Listen("").status()));
  CHECK(absl::IsInvalidArgument(
      ControlServer::Listen(folder.path() + "/" + std::string(108, 'x')).status()));
  CHECK(absl::IsPermissionDenied(ControlServer::Listen("/proc/nanolane/socket").status()));
  // What is no socket is not removed.
  const std::string precious = folder.path() + "/precious";
  std::ofstream(precious) << "text";
  CHECK(absl::IsPermissionDenied(ControlServer::Listen(precious).status()));
  CHECK(access(precious.c_str(), F_OK) == 0);
}

TEST_CASE("sending to who has gone, or does not read, is unavailable and never waits") {
  Rig rig;
  HandPeer peer = rig.Dial();
  const ConnectionId connection = rig.log.WaitConnected();
  absl::Status status;
  for (int i = 0; i < 100'000 && status.ok(); ++i) {
    status = rig.server->Send(connection, wire::MessageType::kStop, wire::Stop{});
  }
  CHECK(absl::IsUnavailable(status));
  peer.Close();
  rig.log.WaitClosed(1);
  CHECK(absl::IsUnavailable(rig.server->Send(connection, wire::MessageType::kStop, wire::Stop{})));
  CHECK(absl::IsUnavailable(rig.server->Send(12'345, wire::MessageType::kStop, wire::Stop{})));
}

}  // namespace nanolane::collector
