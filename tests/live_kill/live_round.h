// One round of the live kill test: captures of two programs, during which store, collector and
// programs are killed, stopped and started again as a seed says; then everything is started again,
// waited for, and checked.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "tests/kill/session_model.h"
#include "tests/live_kill/capture_watch.h"
#include "tests/live_kill/check_capture.h"
#include "tests/live_kill/live_node.h"

namespace nanolane::testing {

// What rounds came across, to see that they reach what they are for.
struct LiveTally {
  int store_kills = 0;
  int collector_kills = 0;
  int program_kills = 0;
  int stops = 0;  // SIGSTOP and SIGCONT
  int sessions = 0;
  int adopted = 0;  // sessions that more than one collector wrote to
  uint64_t expected = 0;
  uint64_t stored = 0;
  uint64_t missing = 0;
  uint64_t unlaunched = 0;
  uint64_t safe = 0;
  std::string times;  // of the round's steps
};

class LiveRound {
 public:
  explicit LiveRound(uint64_t seed);

  // Empty: everything is as it should be.
  std::vector<std::string> Run();
  const LiveTally& tally() const { return tally_; }

 private:
  enum class Deed {
    kKillStore,
    kKillCollector,
    kKillBoth,
    kStopStore,
    kStopCollector,
    // What a collector has sent and a store has not read yet outlives the collector.
    kKillCollectorWhileStoreIsStopped,
    kKillProgram,
    kKillProgramWithoutCollector,
  };

  void StartCaptures();
  void Disturb();
  void Do(Deed deed);
  void KillCollector();
  void StartAgain(ChildProcess& server);
  void KillProgram();
  void Pause(int64_t least_ms, int64_t most_ms);
  void AwaitEnds();
  void CheckSessions();
  size_t ProgramOf(uint64_t pid) const;
  bool Failed(const std::string& doing, const absl::Status& status);

  const uint64_t seed_;
  Random random_;
  int threads_ = 2;
  int64_t duration_ms_ = 0;
  bool at_once_ = false;  // disturbs starts of captures, too
  std::unique_ptr<LiveNode> node_;
  std::vector<std::unique_ptr<CaptureWatch>> watches_;
  std::vector<uint64_t> pids_;
  std::vector<bool> lives_;  // programs
  std::vector<std::string> problems_;
  LiveTally tally_;
};

}  // namespace nanolane::testing
