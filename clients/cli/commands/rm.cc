// nanolane rm: deletes sessions.
#include <iostream>
#include <nlohmann/json.hpp>

#include "clients/cli/client.h"
#include "clients/cli/commands/commands.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"

namespace nanolane::cli {
namespace {

class Rm final : public Command {
 public:
  explicit Rm(CLI::App& command) {
    command.add_option("sessions", sessions_, "Ids of sessions, or their beginnings")->required();
  }

  absl::Status Run(const GlobalOptions& options) override {
    ASSIGN_OR_RETURN(const auto client, QueryClient::Connect(options));
    nlohmann::json deleted = nlohmann::json::array();
    for (const std::string& text : sessions_) {
      ASSIGN_OR_RETURN(const SessionSummary summary, client->FindSession(text));
      grpc::ClientContext context;
      rpc::SetDeadline(context, std::chrono::minutes(5));
      query_v1::DeleteSessionRequest request;
      request.set_session_id(summary.session().session_id());
      query_v1::DeleteSessionResponse response;
      RETURN_IF_ERROR(rpc::FromGrpc(client->stub().DeleteSession(&context, request, &response)));
      deleted.push_back(request.session_id());
      if (!options.json()) std::cout << "deleted " << request.session_id() << "\n";
    }
    if (options.json()) std::cout << deleted.dump(2) << "\n";
    return absl::OkStatus();
  }

 private:
  std::vector<std::string> sessions_;
};

}  // namespace

std::unique_ptr<Command> AddRm(CLI::App& command) { return std::make_unique<Rm>(command); }

}  // namespace nanolane::cli
