#include "tests/support/server_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"

extern char** environ;

namespace nanolane::testing {

absl::StatusOr<ServerProcess> ServerProcess::Start(const std::string& binary,
                                                   std::vector<std::string> further) {
  std::string folder = (std::filesystem::temp_directory_path() / "nanolane-server-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return absl::InternalError("no temporary folder");
  ServerProcess server(binary, folder, std::move(further));
  RETURN_IF_ERROR(server.Launch(/*spawned=*/nullptr));
  return server;
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : binary_(std::move(other.binary_)),
      folder_(std::exchange(other.folder_, "")),
      further_(std::move(other.further_)),
      address_(std::move(other.address_)),
      pid_(std::exchange(other.pid_, -1)) {}

ServerProcess::~ServerProcess() {
  Stop(SIGTERM);
  if (!folder_.empty()) std::filesystem::remove_all(folder_);
}

absl::Status ServerProcess::Launch(const std::function<void(pid_t)>& spawned) {
  // The program prints its address once it answers: a pipe tells when, without polling.
  int output[2];
  if (::pipe2(output, O_CLOEXEC) != 0) return absl::InternalError("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  std::vector<std::string> arguments = {binary_, "up", "--data", data(), "--listen", "127.0.0.1:0"};
  arguments.insert(arguments.end(), further_.begin(), further_.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int error = ::posix_spawn(&pid_, binary_.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(output[1]);
  if (error == 0 && spawned != nullptr) spawned(pid_);
  std::string line;
  char byte = 0;
  while (error == 0 && ::read(output[0], &byte, 1) == 1 && byte != '\n') line.push_back(byte);
  ::close(output[0]);
  if (error != 0) {
    pid_ = -1;
    return absl::NotFoundError(base::StrCat("cannot run ", binary_));
  }
  const size_t at = line.find(" at ");
  const size_t comma = line.find(", data");
  if (at == std::string::npos || comma == std::string::npos) {
    return absl::InternalError(base::StrCat(binary_, " did not come up: ", line));
  }
  address_ = line.substr(at + 4, comma - at - 4);
  return absl::OkStatus();
}

void ServerProcess::Stop(int signal) {
  if (pid_ <= 0) return;
  ::kill(pid_, signal);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
}

absl::Status ServerProcess::Restart(int signal, const std::function<void(pid_t)>& spawned) {
  Stop(signal);
  return Launch(spawned);
}

std::string SiblingBinary(const std::string& name) {
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path();
  if (std::filesystem::exists(folder / name)) return (folder / name).string();
  return (folder.parent_path() / "bin" / name).string();
}

}  // namespace nanolane::testing
