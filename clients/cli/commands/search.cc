// nanolane search: ops by name.
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "clients/cli/client.h"
#include "clients/cli/commands/commands.h"
#include "clients/cli/lane_names.h"
#include "clients/cli/output/table.h"
#include "libs/base/number_text.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"
#include "libs/trace/op_family.h"
#include "libs/trace/wire.h"

namespace nanolane::cli {
namespace {

using Json = nlohmann::ordered_json;

class Search final : public Command {
 public:
  explicit Search(CLI::App& command) {
    command.add_option("pattern", pattern_, "RE2 regular expression, matched anywhere in the name")
        ->required();
    command.add_option("--session", session_,
                       "Only this session: its id, its beginning, or \"latest\"");
    command.add_option("--project", project_, "Only this project");
    command.add_option("--range", range_, "FROM..TO from the session's start (needs --session)");
    command.add_option("--hits", hits_, "First hits to return for each op")->capture_default_str();
  }

  absl::Status Run(const GlobalOptions& options) override {
    ASSIGN_OR_RETURN(const auto client, QueryClient::Connect(options));
    query_v1::SearchRequest request;
    request.set_pattern(pattern_);
    request.set_max_hits(hits_);
    request.mutable_scope()->set_project(project_);
    if (!session_.empty()) {
      ASSIGN_OR_RETURN(const SessionSummary summary, client->FindSession(session_));
      request.mutable_scope()->add_session_ids(summary.session().session_id());
      if (!range_.empty()) {
        ASSIGN_OR_RETURN(const base::TimeRange range, base::ParseRange(range_));
        *request.mutable_window() = ToSessionTime(range, summary);
      }
    } else if (!range_.empty()) {
      return absl::InvalidArgumentError(
          "--range counts from a session's start: name one with --session");
    }
    grpc::ClientContext context;
    rpc::SetDeadline(context, std::chrono::minutes(5));
    query_v1::SearchResponse found;
    RETURN_IF_ERROR(rpc::FromGrpc(client->stub().Search(&context, request, &found)));
    if (!options.json()) {
      PrintTable(found);
      return absl::OkStatus();
    }
    return PrintJson(*client, found);
  }

 private:
  absl::Status PrintJson(QueryClient& client, const query_v1::SearchResponse& found) const {
    std::map<std::string, std::map<uint32_t, std::string>> lane_names;  // by session and lane id
    Json ops = Json::array();
    for (const query_v1::OpHits& op : found.ops()) {
      auto& names = lane_names[op.session_id()];
      if (names.empty()) {
        ASSIGN_OR_RETURN(const auto lanes, client.ListLanes(op.session_id()));
        const std::vector<std::string> unique = UniqueLaneNames(lanes);
        for (size_t i = 0; i < lanes.size(); ++i) names[lanes[i].lane_id()] = unique[i];
      }
      Json hits = Json::array();
      for (const query_v1::EventRef& hit : op.hits()) {
        hits.push_back({{"lane", names[hit.lane_id()]},
                        {"lane_id", hit.lane_id()},
                        {"start_ns", hit.start_ns()},
                        {"duration_ns", hit.duration_ns()}});
      }
      ops.push_back({{"session_id", op.session_id()},
                     {"name", op.name()},
                     {"kind", KindName(op.kind())},
                     {"count", op.count()},
                     {"total_ns", op.total_ns()},
                     {"hits", std::move(hits)}});
    }
    const Json document = {{"pattern", pattern_},
                           {"total_ops", found.total_ops()},
                           {"total_events", found.total_events()},
                           {"ops", std::move(ops)}};
    std::cout << document.dump(2) << "\n";
    return absl::OkStatus();
  }

  void PrintTable(const query_v1::SearchResponse& found) const {
    if (found.total_ops() == 0) {
      std::cout << "Nothing matches \"" << pattern_ << "\".\n";
      return;
    }
    Table table({{"session"},
                 {"kind"},
                 {"count", Align::kRight},
                 {"total", Align::kRight},
                 {"mean", Align::kRight},
                 {"op", Align::kLeft, 80}});
    for (const query_v1::OpHits& op : found.ops()) {
      table.AddRow({op.session_id().substr(0, 8), KindName(op.kind()),
                    base::GroupedCount(op.count()), base::FormatDuration(op.total_ns()),
                    base::FormatDuration(op.total_ns() / static_cast<int64_t>(op.count())),
                    trace::ShortName(op.name())});
    }
    std::cout << table.Render() << base::GroupedCount(found.total_events()) << " events of "
              << base::GroupedCount(found.total_ops()) << " ops\n";
  }

  std::string pattern_;
  std::string session_;
  std::string project_;
  std::string range_;
  int hits_ = 10;
};

}  // namespace

std::unique_ptr<Command> AddSearch(CLI::App& command) { return std::make_unique<Search>(command); }

}  // namespace nanolane::cli
