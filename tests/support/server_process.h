// `nanolane up` as a child process with a data folder of its own: what the store's benches and the
// end-to-end tests talk to.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace nanolane::testing {

// Removes its folder and ends its process when it goes.
class ServerProcess {
 public:
  // Runs `binary` (the nanolane program) and waits until it answers. `further` arguments of
  // `nanolane up` go with every start.
  static absl::StatusOr<ServerProcess> Start(const std::string& binary,
                                             std::vector<std::string> further = {});
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&&) = delete;
  ~ServerProcess();

  const std::string& address() const { return address_; }
  const std::string& folder() const { return folder_; }
  std::string data() const { return folder_ + "/data"; }
  pid_t pid() const { return pid_; }

  // Ends the process with `signal`, waits for it, and starts another one on the same data.
  // `spawned` is told of that one before it answers; if it ends before, that is INTERNAL.
  absl::Status Restart(int signal, const std::function<void(pid_t)>& spawned = nullptr);
  void Stop(int signal);

 private:
  ServerProcess(std::string binary, std::string folder, std::vector<std::string> further)
      : binary_(std::move(binary)), folder_(std::move(folder)), further_(std::move(further)) {}
  absl::Status Launch(const std::function<void(pid_t)>& spawned);

  std::string binary_;
  std::string folder_;
  std::vector<std::string> further_;
  std::string address_;
  pid_t pid_ = -1;
};

// The program of this name beside the running one (or in the bin folder of the same build).
std::string SiblingBinary(const std::string& name);

}  // namespace nanolane::testing
