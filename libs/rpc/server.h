// A gRPC server with what every service of the project has: health, reflection, message limits, an
// orderly end.
//
// Only loopback and Unix addresses are accepted: there is no TLS yet, and traces carry names and
// stacks of somebody's program. Thread-safe after Start().
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace nanolane::rpc {

// Largest message that a server or client of the project takes, in bytes.
inline constexpr int kMaxMessageBytes = 16 << 20;

// What gRPC may hold for the connections of one server unless it says otherwise, in bytes: room for
// a message of the largest size for each of 16 streams.
inline constexpr size_t kServerMemoryBytes = 256 << 20;

struct ServerOptions {
  // "127.0.0.1:7070", "[::1]:0" (any free port), "unix:/path"; empty: in-process channels alone.
  std::string listen;
  // Not owned; must outlive the server.
  std::vector<grpc::Service*> services;
  // What gRPC may hold for all connections at once: messages on their way, buffers. A soft bound:
  // near it reads wait, and where that does not do, calls end with RESOURCE_EXHAUSTED or their
  // connection is closed (UNAVAILABLE).
  size_t memory_bytes = kServerMemoryBytes;
};

class Server {
 public:
  // INVALID_ARGUMENT for a bad or non-loopback address, UNAVAILABLE when it cannot be bound.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);
  ~Server();

  // Where it listens, with the port that was bound.
  const std::string& address() const { return address_; }

  // A channel to the services that does not pass through a socket.
  std::shared_ptr<grpc::Channel> InProcessChannel();

  // Refuses new calls, gives running ones `grace` to end, then cancels them. Idempotent.
  void Shutdown(std::chrono::milliseconds grace);

 private:
  Server(std::unique_ptr<grpc::Server> server, std::string address);

  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

// OK when `listen` is a loopback or Unix address, else INVALID_ARGUMENT that says how to go on.
absl::Status CheckLoopback(const std::string& listen);

}  // namespace nanolane::rpc
