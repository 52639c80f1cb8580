// nanolane follow: what a session gets, as it comes, until it is sealed.
#include <iostream>
#include <nlohmann/json.hpp>

#include "clients/cli/client.h"
#include "clients/cli/commands/commands.h"
#include "libs/base/number_text.h"
#include "libs/base/status_macros.h"
#include "libs/base/time_text.h"
#include "libs/rpc/status.h"
#include "libs/trace/block_codec.h"

namespace nanolane::cli {
namespace {

class Follow final : public Command {
 public:
  explicit Follow(CLI::App& command) {
    command.add_option("session", session_, "Id of the session, its beginning, or \"latest\"")
        ->required();
    command.add_option("--cursor", cursor_, "Go on after this cursor; 0: from the beginning")
        ->capture_default_str();
  }

  absl::Status Run(const GlobalOptions& options) override {
    ASSIGN_OR_RETURN(const auto client, QueryClient::Connect(options));
    ASSIGN_OR_RETURN(const SessionSummary summary, client->FindSession(session_));
    query_v1::FollowRequest request;
    request.set_session_id(summary.session().session_id());
    request.set_cursor(cursor_);
    request.set_max_block_version(trace::kBlockVersion);
    grpc::ClientContext context;
    const auto stream = client->stub().Follow(&context, request);
    query_v1::FollowResponse step;
    while (stream->Read(&step)) {
      RETURN_IF_ERROR(Count(step));
      if (step.has_summary()) known_ = step.summary();
      options.json() ? PrintJson(step) : PrintLine(step);
      const bool sealed = known_.session().ended() && known_.unsealed_events() == 0;
      if (step.caught_up() && sealed) {
        context.TryCancel();
        static_cast<void>(stream->Finish());  // cancelled by us: not an error
        return absl::OkStatus();
      }
    }
    return rpc::FromGrpc(stream->Finish());
  }

 private:
  absl::Status Count(const query_v1::FollowResponse& step) {
    if (step.restart()) received_ = 0;
    for (const query_v1::Block& block : step.blocks()) {
      ASSIGN_OR_RETURN(const trace::BlockHeader header, trace::ReadBlockHeader(block.data()));
      received_ += header.event_count;
    }
    return absl::OkStatus();
  }

  void PrintJson(const query_v1::FollowResponse& step) const {
    const nlohmann::ordered_json line = {{"cursor", step.cursor()},
                                         {"restart", step.restart()},
                                         {"blocks", step.blocks_size()},
                                         {"events", received_},
                                         {"stored", known_.events()},
                                         {"unsealed", known_.unsealed_events()},
                                         {"lost", LostEvents(known_.session())},
                                         {"ended", known_.session().ended()},
                                         {"caught_up", step.caught_up()}};
    std::cout << line.dump() << std::endl;
  }

  void PrintLine(const query_v1::FollowResponse& step) const {
    if (!step.caught_up()) return;
    std::cout << "cursor " << step.cursor() << ": " << base::GroupedCount(received_)
              << " events received, " << base::GroupedCount(LostEvents(known_.session()))
              << " lost, " << base::FormatDuration(known_.end_ns() - known_.start_ns())
              << (known_.session().ended() ? ", ended" : ", running") << std::endl;
  }

  std::string session_;
  uint64_t cursor_ = 0;
  SessionSummary known_;   // as it was told last
  uint64_t received_ = 0;  // of the state that is being followed
};

}  // namespace

std::unique_ptr<Command> AddFollow(CLI::App& command) { return std::make_unique<Follow>(command); }

}  // namespace nanolane::cli
