// nanolane: the command line.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <vector>

#include "clients/cli/commands/commands.h"
#include "clients/cli/options.h"

namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

struct Entry {
  const char* name;
  const char* about;
  std::unique_ptr<nanolane::cli::Command> (*add)(CLI::App&);
};

constexpr Entry kCommands[] = {
    {"up", "Starts every service in one process", nanolane::cli::AddUp},
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
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  for (const auto& [parsed, command] : commands) {
    if (!parsed->parsed()) continue;
    const absl::Status status = command->Run(options);
    if (status.ok()) return 0;
    std::cerr << "nanolane: " << status.message() << "\n";
    return absl::IsInvalidArgument(status) ? kUsage : kFailure;
  }
  return kUsage;
}
