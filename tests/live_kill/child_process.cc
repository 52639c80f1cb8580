#include "tests/live_kill/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "libs/base/str_cat.h"

extern char** environ;

namespace nanolane::testing {
namespace {

using Clock = std::chrono::steady_clock;

int MillisecondsUntil(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::max<int64_t>(0, left.count()));
}

// The next line that it writes; false: none until the deadline, or its output has ended.
bool ReadLine(int fd, Clock::time_point deadline, std::string& line) {
  line.clear();
  for (;;) {
    pollfd waited = {.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&waited, 1, MillisecondsUntil(deadline)) <= 0) return false;
    char byte = 0;
    if (::read(fd, &byte, 1) != 1) return false;
    if (byte == '\n') return true;
    line.push_back(byte);
  }
}

}  // namespace

ChildProcess::~ChildProcess() { Kill(); }

absl::Status ChildProcess::Start(std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  CloseOutput();
  int output[2];
  if (::pipe2(output, O_CLOEXEC) != 0) return absl::InternalError("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (options_.ready.empty()) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  }
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, options_.log.c_str(),
                                   O_CREAT | O_WRONLY | O_APPEND, 0600);
  std::vector<std::string> arguments = options_.arguments;
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  // The first of two equal names counts.
  std::vector<std::string> environment = options_.environment;
  std::vector<char*> envp;
  for (std::string& variable : environment) envp.push_back(variable.data());
  for (char** variable = environ; *variable != nullptr; ++variable) envp.push_back(*variable);
  envp.push_back(nullptr);
  const int error = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(output[1]);
  output_ = output[0];
  if (error != 0) {
    pid_ = -1;
    return absl::NotFoundError(base::StrCat("cannot run ", options_.arguments[0]));
  }
  if (options_.ready.empty()) return absl::OkStatus();
  std::string line;
  while (ReadLine(output_, deadline, line)) {
    if (line.starts_with(options_.ready)) return absl::OkStatus();
  }
  return absl::DeadlineExceededError(
      base::StrCat(options_.arguments[0], " did not come up: ", line));
}

void ChildProcess::CloseOutput() {
  if (output_ >= 0) ::close(output_);
  output_ = -1;
}

void ChildProcess::Signal(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

void ChildProcess::Kill() {
  if (pid_ > 0) {
    Signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  CloseOutput();
}

bool ChildProcess::WaitEnded(std::chrono::milliseconds patience) {
  if (pid_ <= 0) return true;
  const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  pollfd waited = {.fd = fd, .events = POLLIN, .revents = 0};
  const bool ended = ::poll(&waited, 1, static_cast<int>(patience.count())) > 0;
  ::close(fd);
  if (!ended) return false;
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
  CloseOutput();
  return true;
}

std::string ChildProcess::LogTail() const {
  constexpr size_t kMost = 3'000;
  std::ostringstream text;
  text << std::ifstream(options_.log, std::ios::binary).rdbuf();
  const std::string whole = text.str();
  return whole.size() > kMost ? whole.substr(whole.size() - kMost) : whole;
}

}  // namespace nanolane::testing
