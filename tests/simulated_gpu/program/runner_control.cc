// Commands on the program's course, and those on what else is in its process.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "libs/base/status_macros.h"
#include "tests/simulated_gpu/faults.h"
#include "tests/simulated_gpu/program/runner.h"
#include "tests/simulated_gpu/sim_clock.h"

namespace nanolane::sim {
namespace {

constexpr int64_t kPollNs = 500'000;
constexpr int kMostDescriptors = 4096;

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

}  // namespace

absl::Status Runner::RunSay(const Command& command) {
  truth_.Flush();
  std::string text;
  for (const std::string& word : command.words) text += (text.empty() ? "" : " ") + word;
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status Runner::RunWaitFile(const Command& command) {
  const std::string& path = WordAt(command, 0);
  if (path.empty()) return Wrong(command, "needs a path");
  while (!Exists(path)) WaitUntil(MonotonicNow() + kPollNs);
  return absl::OkStatus();
}

absl::Status Runner::RunSleep(const Command& command) {
  int64_t us = 0;
  RETURN_IF_ERROR(ReadNumber(command.Option("us"), us));
  WaitUntil(MonotonicNow() + us * 1000);
  return absl::OkStatus();
}

absl::Status Runner::RunThreads(const Command& command) {
  int64_t count = 0;
  RETURN_IF_ERROR(ReadNumber(&WordAt(command, 0), count));
  std::vector<absl::Status> statuses(static_cast<size_t>(std::max<int64_t>(0, count)));
  std::vector<std::thread> threads;
  for (absl::Status& status : statuses) {
    threads.emplace_back([this, &command, &status] {
      Runner runner(truth_, names_);
      status = runner.Run(command.body);
      truth_.Flush();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

absl::Status Runner::RunLoop(const Command& command) {
  int64_t count = 0;
  RETURN_IF_ERROR(ReadNumber(&WordAt(command, 0), count));
  for (int64_t i = 0; i < count; ++i) RETURN_IF_ERROR(Run(command.body));
  return absl::OkStatus();
}

absl::Status Runner::RunLoopUntilFile(const Command& command) {
  const std::string& path = WordAt(command, 0);
  if (path.empty()) return Wrong(command, "needs a path");
  while (!Exists(path)) RETURN_IF_ERROR(Run(command.body));
  return absl::OkStatus();
}

// The child runs the block, then exits as a program does; its parent waits for it, but for one that
// lives apart.
absl::Status Runner::RunFork(const Command& command) {
  const int child = truth_.Fork();
  if (child < 0) return Wrong(command, "failed");
  if (child == 0) std::exit(Run(command.body).ok() ? 0 : 1);
  if (WordAt(command, 0) == "apart") return absl::OkStatus();
  int status = 0;
  (void)waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  return Wrong(command, "has a child that failed");
}

// As a program does that becomes a daemon: whatever is open, whoever opened it. The truth goes on.
absl::Status Runner::RunCloseDescriptors(const Command&) {
  const int kept = truth_.descriptor();
  for (int fd = 3; fd < kMostDescriptors; ++fd) {
    if (fd != kept) close(fd);
  }
  return absl::OkStatus();
}

absl::Status Runner::RunExit(const Command& command) {
  int64_t code = 0;
  if (!command.words.empty()) RETURN_IF_ERROR(ReadNumber(&command.words[0], code));
  truth_.Flush();
  std::exit(static_cast<int>(code));
}

absl::Status Runner::RunQuickExit(const Command& command) {
  int64_t code = 0;
  if (!command.words.empty()) RETURN_IF_ERROR(ReadNumber(&command.words[0], code));
  truth_.Flush();
  _exit(static_cast<int>(code));
}

// As a late attach does it.
absl::Status Runner::RunInject(const Command& command) {
  void* library = dlopen(WordAt(command, 0).c_str(), RTLD_NOW);
  if (library == nullptr) return Wrong(command, dlerror());
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr) return Wrong(command, "names a library without InitializeInjection");
  return initialize() != 0 ? absl::OkStatus() : Wrong(command, "failed");
}

absl::Status Runner::RunFault(const Command& command) {
  int64_t value = 1;
  if (command.words.size() > 1) RETURN_IF_ERROR(ReadNumber(&command.words[1], value));
  if (SetFault(WordAt(command, 0), value)) return absl::OkStatus();
  return Wrong(command, "names no fault");
}

absl::Status Runner::RunHold(const Command& command) {
  HoldSubscription(WordAt(command, 0));
  return absl::OkStatus();
}

absl::Status Runner::RunReleaseHold(const Command&) {
  ReleaseSubscription();
  return absl::OkStatus();
}

absl::Status Runner::RunBreak(const Command&) {
  BreakCupti();
  return absl::OkStatus();
}

}  // namespace nanolane::sim
