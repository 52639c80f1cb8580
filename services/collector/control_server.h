// The collector's end of the sockets to injection libraries: accepts, reads whole messages, sends.
//
// One thread reads all connections and calls the delegate; Send and Close are for any thread. What
// comes is checked for its frame alone (magic, protocol, size); a connection that breaks the frame
// is closed. At most kMaxConnections at once; further ones are refused by being closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/base/mutex.h"
#include "services/collector/inject/wire.h"

namespace nanolane::collector {

namespace wire = inject::wire;

using ConnectionId = uint64_t;

struct Peer {
  uint64_t pid = 0;  // as the collector's pid namespace has it
  uint32_t uid = 0;
};

class ControlServer {
 public:
  static constexpr size_t kMaxConnections = 4096;

  // Called by the server's thread, one call at a time.
  class Delegate {
   public:
    virtual ~Delegate() = default;
    virtual void OnConnected(ConnectionId connection, const Peer& peer) = 0;
    // `message` begins with a checked MessageHeader and has `bytes`; it is aligned to 8. The
    // descriptor, -1 for none, becomes the delegate's.
    virtual void OnMessage(ConnectionId connection, const std::byte* message, size_t bytes,
                           int descriptor) = 0;
    virtual void OnClosed(ConnectionId connection) = 0;
    // Every kTick, for what takes time.
    virtual void OnTick() = 0;
  };
  static constexpr int kTickMs = 250;

  // Makes the socket, readable and writable for everybody: who connects can only offer itself.
  // A socket file of a server that has gone is replaced; ALREADY_EXISTS where one answers.
  // INVALID_ARGUMENT: the path is too long; PERMISSION_DENIED: it cannot be made there.
  static absl::StatusOr<std::unique_ptr<ControlServer>> Listen(const std::string& path);
  // Removes the socket file.
  ~ControlServer();

  // Begins to accept. The delegate outlives the server, or Stop.
  absl::Status Start(Delegate& delegate);
  // No calls of the delegate afterwards.
  void Stop();

  // UNAVAILABLE: the connection has gone, or does not take messages.
  template <typename Message>
  absl::Status Send(ConnectionId connection, wire::MessageType type, Message message,
                    int descriptor = -1) {
    message.header = {.magic = wire::kMagic,
                      .protocol = wire::kProtocol,
                      .type = static_cast<uint16_t>(type),
                      .size = sizeof(Message),
                      .unused = 0};
    return SendBytes(connection, &message, sizeof(message), descriptor);
  }

  const std::string& path() const { return path_; }

 private:
  ControlServer(std::string path, int listener) : path_(std::move(path)), listener_(listener) {}

  void Run();
  void Accept();
  // False: the connection has ended.
  bool Read(ConnectionId connection, int fd);
  void CloseConnection(ConnectionId connection);
  absl::Status SendBytes(ConnectionId connection, const void* message, size_t bytes,
                         int descriptor);

  const std::string path_;
  const int listener_;
  int wake_ = -1;
  int poller_ = -1;
  Delegate* delegate_ = nullptr;
  std::thread thread_;
  ConnectionId next_ = 1;  // server's thread

  base::Mutex mutex_;
  std::map<ConnectionId, int> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace nanolane::collector
