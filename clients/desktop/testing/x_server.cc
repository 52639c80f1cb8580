#include "clients/desktop/testing/x_server.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

extern char** environ;

namespace nanolane::desktop {
namespace {

// Starts a program; the write end of a pipe is its descriptor `target`. -1: it could not be
// started.
pid_t Spawn(const std::vector<std::string>& arguments, int target, int& read_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], target);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  read_end = ends[0];
  if (failed == 0) return pid;
  close(ends[0]);
  return -1;
}

std::string ReadAll(int descriptor, bool first_line_only) {
  std::string text;
  char byte = 0;
  while (read(descriptor, &byte, 1) == 1) {
    if (first_line_only && byte == '\n') break;
    text += byte;
  }
  close(descriptor);
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<XServer>> XServer::Start(int width, int height) {
  constexpr int kDisplayDescriptor = 9;
  auto server = std::unique_ptr<XServer>(new XServer);
  int read_end = -1;
  server->pid_ = Spawn({"Xvfb", "-displayfd", absl::StrCat(kDisplayDescriptor), "-screen", "0",
                        absl::StrCat(width, "x", height, "x24"), "-nolisten", "tcp", "-noreset"},
                       kDisplayDescriptor, read_end);
  if (server->pid_ < 0) return absl::UnavailableError("Xvfb is not installed");
  const std::string number(absl::StripAsciiWhitespace(ReadAll(read_end, true)));
  if (number.empty()) return absl::UnavailableError("Xvfb does not start");
  server->display_ = absl::StrCat(":", number);
  if (server->Do({"version"}).empty()) return absl::UnavailableError("xdotool is not installed");
  return server;
}

XServer::~XServer() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

std::string XServer::Do(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command = {"xdotool"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const std::optional<std::string> printed = Run(command);
  if (!printed.has_value()) return "";
  return printed->empty() ? "ok" : *printed;
}

bool XServer::SetKeyboard(const std::string& layout) const {
  return Run({"setxkbmap", layout}).has_value();
}

std::optional<std::string> XServer::Run(const std::vector<std::string>& command) const {
  std::vector<std::string> in_display = {"env", absl::StrCat("DISPLAY=", display_)};
  in_display.insert(in_display.end(), command.begin(), command.end());
  int read_end = -1;
  const pid_t pid = Spawn(in_display, STDOUT_FILENO, read_end);
  if (pid < 0) return std::nullopt;
  std::string printed = ReadAll(read_end, false);
  int status = 0;
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return printed;
}

}  // namespace nanolane::desktop
