#include "libs/rpc/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include <utility>

#include "absl/strings/match.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

namespace nanolane::rpc {
namespace {

constexpr std::chrono::milliseconds kDestructorGrace(500);

// Host of "host:port" and "[host]:port"; empty when there is no port.
std::string HostOf(const std::string& listen) {
  const size_t colon = listen.rfind(':');
  if (colon == std::string::npos) return "";
  std::string host = listen.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return host;
}

}  // namespace

absl::Status CheckLoopback(const std::string& listen) {
  if (absl::StartsWith(listen, "unix:")) return absl::OkStatus();
  const std::string host = HostOf(listen);
  if (host.empty()) {
    return absl::InvalidArgumentError(
        base::StrCat("bad listen address \"", listen,
                     "\": write HOST:PORT, such as 127.0.0.1:7070, or unix:/path"));
  }
  if (host == "localhost" || host == "::1" || absl::StartsWith(host, "127.")) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      base::StrCat("refusing to listen on ", listen,
                   ": it is not a loopback address and this version has no TLS; listen on "
                   "127.0.0.1 and reach it "
                   "through an SSH tunnel (ssh -L 7070:127.0.0.1:7070 HOST)"));
}

Server::Server(std::unique_ptr<grpc::Server> server, std::string address)
    : server_(std::move(server)), address_(std::move(address)) {}

Server::~Server() { Shutdown(kDestructorGrace); }

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  const bool listens = !options.listen.empty();
  if (listens) RETURN_IF_ERROR(CheckLoopback(options.listen));
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  grpc::ResourceQuota quota("nanolane");
  quota.Resize(options.memory_bytes);
  builder.SetResourceQuota(quota);
  // A port that somebody else has is an error, not something to share.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  int port = -1;
  if (listens) {
    builder.AddListeningPort(options.listen, grpc::InsecureServerCredentials(), &port);
  }
  for (grpc::Service* service : options.services) builder.RegisterService(service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || (listens && port < 0)) {
    return absl::UnavailableError(
        base::StrCat("cannot listen on ", options.listen,
                     ": the address is in use or not of this machine; choose another with --listen "
                     "(port 0 takes any free one)"));
  }
  std::string address = options.listen;
  if (listens && !absl::StartsWith(address, "unix:")) {
    address = base::StrCat(address.substr(0, address.rfind(':')), ":", port);
  }
  return std::unique_ptr<Server>(new Server(std::move(server), std::move(address)));
}

std::shared_ptr<grpc::Channel> Server::InProcessChannel() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  return server_->InProcessChannel(arguments);
}

void Server::Shutdown(std::chrono::milliseconds grace) {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_->Wait();
  server_ = nullptr;
}

}  // namespace nanolane::rpc
