#include "tests/support/command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/support/temp_folder.h"

extern char** environ;

namespace nanolane::testing {
namespace {

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Files and not pipes: two pipes would need somebody to read both.
std::string OutputIn(const TempFolder& folder) { return folder.path() + "/output"; }
std::string ErrorsIn(const TempFolder& folder) { return folder.path() + "/errors"; }

}  // namespace

RunningCommand::RunningCommand(const std::vector<std::string>& arguments)
    : name_(arguments[0]), folder_(std::make_unique<TempFolder>()) {
  std::vector<std::string> owned = arguments;
  std::vector<char*> argv;
  for (std::string& argument : owned) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kFlags = O_CREAT | O_WRONLY | O_TRUNC;
  const std::string output = OutputIn(*folder_);
  const std::string errors = ErrorsIn(*folder_);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), kFlags, 0600);
  if (::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&actions);
}

RunningCommand::~RunningCommand() {
  if (pid_ <= 0) return;
  Signal(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void RunningCommand::Signal(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

CommandResult RunningCommand::Wait() {
  CommandResult result;
  if (pid_ <= 0) {
    result.errors = "cannot run " + name_;
    return result;
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.output = ReadFile(OutputIn(*folder_));
  result.errors = ReadFile(ErrorsIn(*folder_));
  return result;
}

CommandResult RunCommand(const std::vector<std::string>& arguments) {
  return RunningCommand(arguments).Wait();
}

}  // namespace nanolane::testing
