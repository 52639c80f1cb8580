// Client side of gRPC: channels with the project's limits, and deadlines.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace nanolane::rpc {

// What a unary call gets unless it says otherwise.
inline constexpr std::chrono::seconds kUnaryDeadline(30);

// A channel to "HOST:PORT" or "unix:/path" that connects at its first call. Never blocks; where
// nothing answers, calls fail with UNAVAILABLE.
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address);

// As OpenChannel, connected within `wait`. UNAVAILABLE with what to do
// when nothing answers there.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(
    const std::string& address, std::chrono::milliseconds wait = std::chrono::seconds(5));

inline void SetDeadline(grpc::ClientContext& context,
                        std::chrono::milliseconds after = kUnaryDeadline) {
  context.set_deadline(std::chrono::system_clock::now() + after);
}

}  // namespace nanolane::rpc
