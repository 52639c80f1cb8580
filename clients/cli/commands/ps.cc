// nanolane ps: processes that can be profiled.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "clients/cli/capture/processes.h"
#include "clients/cli/capture/proto_time.h"
#include "clients/cli/collector_client.h"
#include "clients/cli/commands/commands.h"
#include "clients/cli/output/table.h"
#include "libs/base/status_macros.h"

namespace nanolane::cli {
namespace {

using collector_v1::Process;
using Json = nlohmann::ordered_json;

// Where stdout is not a terminal, which has a width of its own.
constexpr size_t kCommandWidth = 80;

// Characters in a line of the terminal; 0: stdout is none.
size_t TerminalWidth() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

class Ps final : public Command {
 public:
  absl::Status Run(const GlobalOptions& options) override {
    ASSIGN_OR_RETURN(const auto client, CollectorClient::Connect(options));
    ASSIGN_OR_RETURN(const std::vector<Process> processes, client->ListProcesses());
    options.json() ? PrintJson(processes) : PrintTable(processes);
    return absl::OkStatus();
  }

 private:
  static Json ToJson(const Process& process) {
    Json gpus = Json::array();
    for (const auto& gpu : process.gpus()) {
      gpus.push_back({{"index", gpu.index()},
                      {"uuid", gpu.uuid()},
                      {"name", gpu.name()},
                      {"memory_bytes", gpu.memory_bytes()}});
    }
    Json command_line = Json::array();
    for (const std::string& argument : process.command_line()) command_line.push_back(argument);
    return {{"pid", process.pid()},
            {"executable", process.executable()},
            {"command_line", std::move(command_line)},
            {"user", process.user()},
            {"container_id", process.container_id()},
            {"pod_uid", process.pod_uid()},
            {"gpus", std::move(gpus)},
            {"project", process.project()},
            {"state", StateName(process)},
            {"refusal", process.refusal()},
            {"session_id", process.session_id()},
            {"start_unix_ns", ToNanos(process.start_time())},
            {"cupti_version", process.cupti_version()}};
  }

  static void PrintJson(const std::vector<Process>& processes) {
    Json array = Json::array();
    for (const Process& process : processes) array.push_back(ToJson(process));
    std::cout << array.dump(2) << "\n";
  }

  static void PrintTable(const std::vector<Process>& processes) {
    if (processes.empty()) {
      std::cout << "No process can be profiled yet; " << kHowToStart << ".\n";
      return;
    }
    const bool containers =
        std::any_of(processes.begin(), processes.end(),
                    [](const Process& process) { return !process.container_id().empty(); });
    const size_t width = TerminalWidth();
    std::vector<TableColumn> columns = {
        {"pid", Align::kRight}, {"user"}, {"project"}, {"gpus", Align::kLeft, 40}, {"state"}};
    if (containers) columns.push_back({"container"});
    columns.push_back({"command", Align::kLeft, width == 0 ? kCommandWidth : 0});
    Table table(columns);
    for (const Process& process : processes) {
      std::vector<std::string> row = {std::to_string(process.pid()),
                                      process.user().empty() ? "-" : process.user(),
                                      process.project(), GpusText(process), StateText(process)};
      if (containers) row.push_back(ContainerText(process));
      row.push_back(CommandText(process));
      table.AddRow(std::move(row));
    }
    std::cout << table.Render(width);
  }
};

}  // namespace

std::unique_ptr<Command> AddPs(CLI::App& /*command*/) { return std::make_unique<Ps>(); }

}  // namespace nanolane::cli
