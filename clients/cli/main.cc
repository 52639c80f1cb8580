// nanolane: the command line.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <vector>

#include "clients/cli/commands/commands.h"
#include "clients/cli/exit_code.h"
#include "clients/cli/options.h"

namespace {

struct Entry {
  const char* name;
  const char* about;
  std::unique_ptr<nanolane::cli::Command> (*add)(CLI::App&);
};

constexpr Entry kCommands[] = {
    {"up", "Starts every service in one process", nanolane::cli::AddUp},
    {"run", "Starts a program that can be profiled", nanolane::cli::AddRun},
    {"ps", "Lists the processes that can be profiled", nanolane::cli::AddPs},
    {"profile", "Records what a process does on its GPUs", nanolane::cli::AddProfile},
    {"import", "Imports trace files", nanolane::cli::AddImport},
    {"ls", "Lists sessions", nanolane::cli::AddLs},
    {"stats", "Totals per lane and op", nanolane::cli::AddStats},
    {"search", "Finds ops by a regular expression over their names", nanolane::cli::AddSearch},
    {"export", "Writes a session as a file for other tools", nanolane::cli::AddExport},
    {"density", "Where the data of a scope lies in time", nanolane::cli::AddDensity},
    {"follow", "What a session gets, as it comes", nanolane::cli::AddFollow},
    {"checkpoint", "Copies the store as it is now", nanolane::cli::AddCheckpoint},
    {"rm", "Deletes sessions", nanolane::cli::AddRm},
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Nanolane: what GPUs do, exactly.", "nanolane");
  app.set_version_flag("--version", NANOLANE_VERSION);
  app.require_subcommand(1);
  nanolane::cli::GlobalOptions options;
  nanolane::cli::AddGlobalOptions(app, options);
  std::vector<std::pair<CLI::App*, std::unique_ptr<nanolane::cli::Command>>> commands;
  for (const Entry& entry : kCommands) {
    CLI::App* command = app.add_subcommand(entry.name, entry.about);
    nanolane::cli::AddGlobalOptions(*command, options);
    commands.emplace_back(command, entry.add(*command));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : nanolane::cli::kExitUsage;
  }
  for (const auto& [parsed, command] : commands) {
    if (!parsed->parsed()) continue;
    const absl::Status status = command->Run(options);
    if (!status.ok()) std::cerr << "nanolane: " << status.message() << "\n";
    return nanolane::cli::ExitCodeOf(status);
  }
  return nanolane::cli::kExitUsage;
}
