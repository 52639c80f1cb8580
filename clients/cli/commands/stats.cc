// nanolane stats: totals per lane and op.
#include <iostream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
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

std::vector<std::string> LaneNamesOf(const query_v1::GetStatsResponse& stats) {
  std::vector<query_v1::LaneInfo> lanes;
  for (const auto& lane : stats.lanes()) lanes.push_back(lane.lane());
  return UniqueLaneNames(lanes);
}

class Stats final : public Command {
 public:
  explicit Stats(CLI::App& command) {
    command.add_option("session", session_, "Id of the session, its beginning, or \"latest\"")
        ->required();
    command.add_option("--range", range_, "FROM..TO from the session's start, such as 1.2ms..3ms");
    command.add_option("--top", top_, "Ops to show in the table; 0: all")->capture_default_str();
  }

  absl::Status Run(const GlobalOptions& options) override {
    ASSIGN_OR_RETURN(const auto client, QueryClient::Connect(options));
    ASSIGN_OR_RETURN(const SessionSummary summary, client->FindSession(session_));
    query_v1::GetStatsRequest request;
    request.set_session_id(summary.session().session_id());
    if (!range_.empty()) {
      ASSIGN_OR_RETURN(const base::TimeRange range, base::ParseRange(range_));
      *request.mutable_window() = ToSessionTime(range, summary);
    }
    grpc::ClientContext context;
    rpc::SetDeadline(context, std::chrono::minutes(5));
    query_v1::GetStatsResponse stats;
    RETURN_IF_ERROR(rpc::FromGrpc(client->stub().GetStats(&context, request, &stats)));
    options.json() ? PrintJson(summary, stats) : PrintTables(summary, stats);
    return absl::OkStatus();
  }

 private:
  static void PrintJson(const SessionSummary& summary, const query_v1::GetStatsResponse& stats) {
    Json lanes = Json::array();
    const std::vector<std::string> names = LaneNamesOf(stats);
    for (int i = 0; i < stats.lanes_size(); ++i) {
      const query_v1::LaneStats& lane = stats.lanes(i);
      const trace::Lane key = trace::FromProto(lane.lane().lane());
      lanes.push_back({{"lane", names[static_cast<size_t>(i)]},
                       {"kind", trace::ToString(key.kind)},
                       {"events", lane.events()},
                       {"busy_ns", lane.busy_ns()},
                       {"first_ns", lane.first_ns()},
                       {"last_ns", lane.last_ns()},
                       {"lane_id", lane.lane().lane_id()},
                       {"gpu", key.gpu_index}});
    }
    Json ops = Json::array();
    for (const query_v1::OpStats& op : stats.ops()) {
      ops.push_back({{"name", op.name()},
                     {"kind", KindName(op.kind())},
                     {"count", op.count()},
                     {"total_ns", op.total_ns()},
                     {"mean_ns", op.mean_ns()},
                     {"min_ns", op.min_ns()},
                     {"p50_ns", op.p50_ns()},
                     {"p95_ns", op.p95_ns()},
                     {"max_ns", op.max_ns()}});
    }
    const Json document = {
        {"session_id", summary.session().session_id()},
        {"window", {{"start_ns", stats.window().start_ns()}, {"end_ns", stats.window().end_ns()}}},
        {"lanes", std::move(lanes)},
        {"ops", std::move(ops)}};
    std::cout << document.dump(2) << "\n";
  }

  void PrintTables(const SessionSummary& summary, const query_v1::GetStatsResponse& stats) const {
    const int64_t length = stats.window().end_ns() - stats.window().start_ns();
    std::cout << "session " << summary.session().session_id() << ", window of "
              << base::FormatDuration(length) << ", "
              << base::GroupedCount(LostEvents(summary.session())) << " events lost\n\n";
    Table lanes({{"lane"},
                 {"events", Align::kRight},
                 {"busy", Align::kRight},
                 {"share", Align::kRight},
                 {"first", Align::kRight},
                 {"last", Align::kRight}});
    const std::vector<std::string> names = LaneNamesOf(stats);
    for (int i = 0; i < stats.lanes_size(); ++i) {
      const query_v1::LaneStats& lane = stats.lanes(i);
      const auto since_start = [&](int64_t ns) {
        return lane.events() == 0 ? "-" : base::FormatDuration(ns - summary.start_ns());
      };
      const double share =
          length == 0 ? 0
                      : 100.0 * static_cast<double>(lane.busy_ns()) / static_cast<double>(length);
      lanes.AddRow({names[static_cast<size_t>(i)], base::GroupedCount(lane.events()),
                    base::FormatDuration(lane.busy_ns()), absl::StrFormat("%.1f %%", share),
                    since_start(lane.first_ns()), since_start(lane.last_ns())});
    }
    std::cout << lanes.Render() << "\n";
    Table ops({{"op", Align::kLeft, 60},
               {"kind"},
               {"count", Align::kRight},
               {"total", Align::kRight},
               {"mean", Align::kRight},
               {"min", Align::kRight},
               {"p50", Align::kRight},
               {"p95", Align::kRight},
               {"max", Align::kRight}});
    int shown = 0;
    for (const query_v1::OpStats& op : stats.ops()) {
      if (top_ > 0 && shown == top_) break;
      ++shown;
      ops.AddRow({trace::ShortName(op.name()), KindName(op.kind()), base::GroupedCount(op.count()),
                  base::FormatDuration(op.total_ns()), base::FormatDuration(op.mean_ns()),
                  base::FormatDuration(op.min_ns()), base::FormatDuration(op.p50_ns()),
                  base::FormatDuration(op.p95_ns()), base::FormatDuration(op.max_ns())});
    }
    std::cout << ops.Render();
    if (shown < stats.ops_size()) {
      std::cout << "… and " << stats.ops_size() - shown << " more ops; --top 0 shows all\n";
    }
  }

  std::string session_;
  std::string range_;
  int top_ = 25;
};

}  // namespace

std::unique_ptr<Command> AddStats(CLI::App& command) { return std::make_unique<Stats>(command); }

}  // namespace nanolane::cli
