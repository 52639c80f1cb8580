#include "libs/rpc/channel.h"

#include "libs/base/str_cat.h"
#include "libs/rpc/server.h"

namespace nanolane::rpc {

std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  // Loopback and Unix addresses are never reached through a proxy.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // A server that comes back is found again soon: by default the pauses grow to two minutes.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2'000);
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
