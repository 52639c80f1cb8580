// nanolane ls: sessions.
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "clients/cli/client.h"
#include "clients/cli/commands/commands.h"
#include "clients/cli/output/table.h"
#include "libs/base/number_text.h"
#include "libs/base/status_macros.h"

namespace nanolane::cli {
namespace {

using Json = nlohmann::ordered_json;

class Ls final : public Command {
 public:
  explicit Ls(CLI::App& command) {
    command.add_option("--project", project_, "Only this project");
    command.add_option("--host", host_, "Only this host");
    command.add_option("--process", process_, "Only processes of this name");
  }

  absl::Status Run(const GlobalOptions& options) override {
    ASSIGN_OR_RETURN(const auto client, QueryClient::Connect(options));
    query_v1::Scope scope;
    scope.set_project(project_);
    scope.set_host(host_);
    scope.set_process(process_);
    ASSIGN_OR_RETURN(const std::vector<SessionSummary> sessions, client->ListSessions(scope));
    options.json() ? PrintJson(sessions) : PrintTable(sessions);
    return absl::OkStatus();
  }

 private:
  static void PrintJson(const std::vector<SessionSummary>& sessions) {
    Json array = Json::array();
    for (const SessionSummary& summary : sessions) {
      const auto& session = summary.session();
      const std::map<std::string, std::string> labels(session.labels().begin(),
                                                      session.labels().end());
      array.push_back({{"session_id", session.session_id()},
                       {"project", session.project()},
                       {"host", session.host()},
                       {"pid", session.pid()},
                       {"process", session.executable()},
                       {"start_ns", summary.start_ns()},
                       {"end_ns", summary.end_ns()},
                       {"events", summary.events()},
                       {"stored_bytes", summary.stored_bytes()},
                       {"lost", LostEvents(session)},
                       {"ended", session.ended()},
                       {"labels", labels},
                       {"source", session.source()}});
    }
    std::cout << array.dump(2) << "\n";
  }

  static void PrintTable(const std::vector<SessionSummary>& sessions) {
    if (sessions.empty()) {
      std::cout << "No sessions. \"nanolane import FILE\" brings one.\n";
      return;
    }
    Table table({{"session"},
                 {"project"},
                 {"host"},
                 {"process", Align::kLeft, 32},
                 {"pid", Align::kRight},
                 {"length", Align::kRight},
                 {"events", Align::kRight},
                 {"stored", Align::kRight},
                 {"lost", Align::kRight},
                 {"source", Align::kLeft, 40}});
    for (const SessionSummary& summary : sessions) {
      const auto& session = summary.session();
      table.AddRow({session.session_id(), session.project(),
                    session.host().empty() ? "-" : session.host(), ProcessName(session),
                    session.pid() == 0 ? "-" : std::to_string(session.pid()),
                    base::FormatDuration(summary.end_ns() - summary.start_ns()),
                    base::GroupedCount(summary.events()), FormatBytes(summary.stored_bytes()),
                    base::GroupedCount(LostEvents(session)), session.source()});
    }
    std::cout << table.Render();
  }

  std::string project_;
  std::string host_;
  std::string process_;
};

}  // namespace

std::unique_ptr<Command> AddLs(CLI::App& command) { return std::make_unique<Ls>(command); }

}  // namespace nanolane::cli
