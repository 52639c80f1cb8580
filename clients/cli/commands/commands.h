// The commands of `nanolane`, one file each. Each function adds its command to the program and
// returns what runs it; options stand in the returned object.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "clients/cli/options.h"

namespace nanolane::cli {

std::unique_ptr<Command> AddUp(CLI::App& command);
std::unique_ptr<Command> AddRun(CLI::App& command);
std::unique_ptr<Command> AddPs(CLI::App& command);
std::unique_ptr<Command> AddProfile(CLI::App& command);
std::unique_ptr<Command> AddImport(CLI::App& command);
std::unique_ptr<Command> AddLs(CLI::App& command);
std::unique_ptr<Command> AddStats(CLI::App& command);
std::unique_ptr<Command> AddSearch(CLI::App& command);
std::unique_ptr<Command> AddExport(CLI::App& command);
std::unique_ptr<Command> AddDensity(CLI::App& command);
std::unique_ptr<Command> AddFollow(CLI::App& command);
std::unique_ptr<Command> AddCheckpoint(CLI::App& command);
std::unique_ptr<Command> AddRm(CLI::App& command);

}  // namespace nanolane::cli
