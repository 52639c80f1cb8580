// `nanolane up` with a socket of its own and a client of it: what most tests begin with.
#pragma once

#include <string>
#include <vector>

#include "tests/live_capture/support/capture_client.h"
#include "tests/live_capture/support/comparison.h"
#include "tests/live_capture/support/sim_process.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_folder.h"

namespace nanolane::testing {

class Rig {
 public:
  Rig() : server_(StartServer()), client_(server_.address(), server_.address()) {}

  const std::string& socket() const { return socket_; }
  ServerProcess& server() { return server_; }
  CaptureClient& client() { return client_; }

  // A process that is ready to be captured: its script says so.
  std::unique_ptr<SimProcess> Run(const std::string& script,
                                  const std::map<std::string, std::string>& environment = {}) {
    auto process = std::make_unique<SimProcess>(
        SimOptions{.socket = socket_, .script = script, .environment = environment});
    if (!process->WaitSaid("ready") || !client_.WaitRegistered(process->pid())) return nullptr;
    return process;
  }

  // Kills the server and starts another one on the same data; its address is another one.
  absl::Status Restart(int signal) {
    absl::Status restarted = server_.Restart(signal);
    client_ = CaptureClient(server_.address(), server_.address());
    return restarted;
  }

 private:
  ServerProcess StartServer() {
    auto server = ServerProcess::Start(SiblingBinary("nanolane"), {"--socket", socket_});
    if (!server.ok()) throw std::runtime_error(std::string(server.status().message()));
    return *std::move(server);
  }

  TempFolder folder_;
  const std::string socket_ = folder_.path() + "/collector.sock";
  ServerProcess server_;
  CaptureClient client_;
};

}  // namespace nanolane::testing
