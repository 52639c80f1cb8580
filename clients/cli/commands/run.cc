// nanolane run: starts a program that can be profiled.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "clients/cli/commands/commands.h"
#include "clients/cli/exit_code.h"
#include "clients/cli/run/injection.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

namespace nanolane::cli {
namespace {

std::optional<std::string> FromProcess(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string ProgramFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

// Becomes the program; returns only when it could not.
absl::Status Become(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  const int error = errno;
  const bool missing = error == ENOENT || error == ENOTDIR;
  return WithExitCode(absl::NotFoundError(base::StrCat("cannot run \"", arguments[0],
                                                       "\": ", std::strerror(error))),
                      missing ? kExitNoSuchCommand : kExitCannotRun);
}

class RunProgram final : public Command {
 public:
  explicit RunProgram(CLI::App& command) : command_(command) {
    command.add_option("--socket", socket_, "Socket of the collector to register with");
    command.add_option("--project", project_, "Project that captures of the program belong to");
    command.add_option("--library", library_, "The injection library, if it is not near nanolane");
    command.add_flag("--replace-injection", replace_,
                     "Use Nanolane's library where another tool's is set in the environment");
    // One string and what is left over, not a list: CLI11 takes "[a,b]" in a list apart.
    command.add_option("program", program_, "What to run, behind \"--\"; its arguments follow it")
        ->required();
    command.prefix_command();
  }

  absl::Status Run(const GlobalOptions& /*options*/) override {
    InjectionOptions injection{
        .library = "",
        .socket = ChooseSocket(socket_, FromProcess),
        .project = project_,
        .replace = replace_,
    };
    ASSIGN_OR_RETURN(injection.library,
                     FindInjectionLibrary(library_, FromProcess, ProgramFolder()));
    ASSIGN_OR_RETURN(const auto variables, InjectionVariables(injection, FromProcess));
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    return Become(Arguments());
  }

 private:
  std::vector<std::string> Arguments() const {
    std::vector<std::string> arguments = command_.remaining();
    // CLI11 keeps the mark in front of the program; further ones are the program's own.
    if (!arguments.empty() && arguments[0] == "--") arguments.erase(arguments.begin());
    arguments.insert(arguments.begin(), program_);
    return arguments;
  }

  CLI::App& command_;
  std::string socket_;
  std::string project_;
  std::string library_;
  std::string program_;
  bool replace_ = false;
};

}  // namespace

std::unique_ptr<Command> AddRun(CLI::App& command) { return std::make_unique<RunProgram>(command); }

}  // namespace nanolane::cli
