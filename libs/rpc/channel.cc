#include "libs/rpc/channel.h"

#include "libs/base/str_cat.h"
#include "libs/rpc/server.h"

namespace nanolane::rpc {
namespace {

constexpr int kMostReconnectMs = 2'000;

}  // namespace

std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  // Loopback and Unix addresses are never reached through a proxy.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // gRPC's own wait between attempts grows to two minutes: a server that is back is found sooner.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMostReconnectMs);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const std::string& address,
                                                       std::chrono::milliseconds wait) {
  std::shared_ptr<grpc::Channel> channel = OpenChannel(address);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + wait)) {
    return absl::UnavailableError(
        base::StrCat("no Nanolane server answers at ", address,
                     "; start one with \"nanolane up\", or name another with --server"));
  }
  return channel;
}

}  // namespace nanolane::rpc
