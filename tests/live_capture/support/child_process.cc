#include "tests/live_capture/support/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "libs/base/str_cat.h"

extern char** environ;

namespace nanolane::testing {

ChildProcess::ChildProcess(const ChildOptions& options) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return;
  std::vector<std::string> texts;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (options.environment.contains(text.substr(0, text.find('=')))) continue;
    texts.push_back(text);
  }
  for (const auto& [name, value] : options.environment) {
    texts.push_back(base::StrCat(name, "=", value));
  }
  std::vector<std::string> owned = options.arguments;
  std::vector<char*> argv;
  std::vector<char*> envp;
  for (std::string& argument : owned) argv.push_back(argument.data());
  for (std::string& text : texts) envp.push_back(text.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  if (!options.errors.empty()) {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, options.errors.c_str(),
                                     O_CREAT | O_WRONLY | O_APPEND, 0600);
  }
  if (::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), envp.data()) != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  first_pid_ = pid_;
  output_ = pipe[0];
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGCONT);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (output_ >= 0) ::close(output_);
}

bool ChildProcess::WaitForLine(const std::string& text, std::string* line) {
  for (;;) {
    for (size_t end = read_.find('\n'); end != std::string::npos; end = read_.find('\n')) {
      const std::string next = read_.substr(0, end);
      read_.erase(0, end + 1);
      if (next.find(text) == std::string::npos) continue;
      if (line != nullptr) *line = next;
      return true;
    }
    char bytes[512];
    const ssize_t got = ::read(output_, bytes, sizeof(bytes));
    if (got <= 0) return false;
    read_.append(bytes, static_cast<size_t>(got));
  }
}

void ChildProcess::Signal(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

ChildExit ChildProcess::Wait() {
  if (pid_ <= 0) return exit_;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (WIFEXITED(status)) exit_.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) exit_.signal = WTERMSIG(status);
  return exit_;
}

uint64_t ChildProcess::PeakBytes() const {
  std::ifstream status(base::StrCat("/proc/", pid_, "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) << 10;
  }
  return 0;
}

}  // namespace nanolane::testing
