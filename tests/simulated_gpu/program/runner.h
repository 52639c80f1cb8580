// Runs a script: each command makes its calls of the simulated GPU and notes them in the truth.
// A thread of the script has a runner of its own, which begins with copies of its parent's names.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/simulated_gpu/program/script.h"
#include "tests/simulated_gpu/program/truth.h"
#include "tests/simulated_gpu/sim_device.h"

namespace nanolane::sim {

// Not thread-safe.
class Runner {
 public:
  explicit Runner(Truth& truth) : truth_(truth) {}

  // Stops at the first command that is wrong.
  absl::Status Run(const std::vector<Command>& commands);

 private:
  using Handler = absl::Status (Runner::*)(const Command&);
  struct Names {
    std::map<std::string, Stream*> streams;
    std::map<std::string, Event*> events;
    std::map<std::string, Pool*> pools;
    std::map<std::string, Graph*> graphs;
    std::map<std::string, uint64_t> addresses;
    std::map<std::string, uint64_t> ranges;
  };

  Runner(Truth& truth, const Names& names) : truth_(truth), names_(names) {}

  static Handler HandlerOf(std::string_view name);

  // runner_control.cc
  absl::Status RunSay(const Command& command);
  absl::Status RunWaitFile(const Command& command);
  absl::Status RunSleep(const Command& command);
  absl::Status RunThreads(const Command& command);
  absl::Status RunLoop(const Command& command);
  absl::Status RunLoopUntilFile(const Command& command);
  absl::Status RunFork(const Command& command);
  absl::Status RunCloseDescriptors(const Command& command);
  absl::Status RunExit(const Command& command);
  absl::Status RunQuickExit(const Command& command);
  absl::Status RunInject(const Command& command);
  absl::Status RunFault(const Command& command);
  absl::Status RunHold(const Command& command);
  absl::Status RunReleaseHold(const Command& command);
  absl::Status RunBreak(const Command& command);

  // runner_work.cc
  absl::Status RunInit(const Command& command);
  absl::Status RunDevice(const Command& command);
  absl::Status RunStream(const Command& command);
  absl::Status RunLaunch(const Command& command);
  absl::Status RunStorm(const Command& command);
  absl::Status RunCopy(const Command& command);
  absl::Status RunPeer(const Command& command);
  absl::Status RunSet(const Command& command);
  absl::Status RunGraph(const Command& command);
  absl::Status RunGraphLaunch(const Command& command);

  // runner_sync.cc
  absl::Status RunEvent(const Command& command);
  absl::Status RunRecord(const Command& command);
  absl::Status RunSync(const Command& command);
  absl::Status RunSyncDevice(const Command& command);
  absl::Status RunSyncEvent(const Command& command);
  absl::Status RunQuery(const Command& command);
  absl::Status RunWaitEvent(const Command& command);
  absl::Status RunPool(const Command& command);
  absl::Status RunMalloc(const Command& command);
  absl::Status RunFree(const Command& command);
  absl::Status RunMallocAsync(const Command& command);
  absl::Status RunFreeAsync(const Command& command);
  absl::Status RunPush(const Command& command);
  absl::Status RunPop(const Command& command);
  absl::Status RunMark(const Command& command);
  absl::Status RunRangeStart(const Command& command);
  absl::Status RunRangeEnd(const Command& command);

  // "default" and "per-thread" are always there. Null: no such stream.
  Stream* StreamNamed(const std::string& name);
  // Makes the calls of `deed`, which lacks times and results, and notes each.
  void Do(Deed deed, uint64_t count, const std::function<Call()>& call);
  absl::Status Wrong(const Command& command, std::string_view what) const;

  Truth& truth_;
  Names names_;
};

// Of an option or a word; the default where it is not given; error where it is no number.
absl::Status ReadNumber(const std::string* text, int64_t& number);
const std::string& WordAt(const Command& command, size_t index);  // empty: not given

}  // namespace nanolane::sim
