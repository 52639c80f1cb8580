// nanolane checkpoint: a copy of the store as it is now.
#include <iostream>
#include <nlohmann/json.hpp>

#include "clients/cli/client.h"
#include "clients/cli/commands/commands.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "nanolane/store/v1/store.grpc.pb.h"

namespace nanolane::cli {
namespace {

class Checkpoint final : public Command {
 public:
  explicit Checkpoint(CLI::App& command) {
    command.add_option("name", name_, "What to call the copy")->required();
  }

  absl::Status Run(const GlobalOptions& options) override {
    ASSIGN_OR_RETURN(const auto channel, rpc::Connect(options.server));
    const auto store = nanolane::store::v1::StoreService::NewStub(channel);
    grpc::ClientContext context;
    rpc::SetDeadline(context, std::chrono::minutes(5));
    nanolane::store::v1::CreateCheckpointRequest request;
    request.set_name(name_);
    nanolane::store::v1::CreateCheckpointResponse response;
    RETURN_IF_ERROR(rpc::FromGrpc(store->CreateCheckpoint(&context, request, &response)));
    if (options.json()) {
      std::cout << nlohmann::json{{"path", response.path()}}.dump(2) << "\n";
    } else {
      std::cout << "the store is copied to " << response.path() << "\n";
    }
    return absl::OkStatus();
  }

 private:
  std::string name_;
};

}  // namespace

std::unique_ptr<Command> AddCheckpoint(CLI::App& command) {
  return std::make_unique<Checkpoint>(command);
}

}  // namespace nanolane::cli
