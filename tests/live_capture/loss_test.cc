// What cannot be recorded is counted by kind and reason, and nothing is both counted and recorded.
#include <unistd.h>
#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "tests/live_capture/support/rig.h"
#include "tests/live_capture/support/scripts.h"

namespace nanolane::testing {
namespace {

using trace::EventKind;

constexpr uint64_t kMegabyte = 1 << 20;

bool IsLong() { return std::getenv("NANOLANE_LONG") != nullptr; }

uint64_t PeakOf(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) << 10;
  }
  return 0;
}

uint64_t Launched(const std::vector<Deed>& deeds) {
  uint64_t launched = 0;
  for (const Deed& deed : deeds) {
    if (deed.call == "launch") launched += deed.count;
  }
  return launched;
}

TEST_CASE("a storm of launches is recorded whole, in memory that has a bound") {
  const std::string launches = IsLong() ? "2000000" : "300000";
  Rig rig;
  const auto process = rig.Run(
      "init\n"
      "say ready\n"
      "wait-file $DIR/go\n"
      "storm " +
      launches +
      " threads=2 sum\n"
      "say done\n"
      "wait-file $DIR/stop\n");
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  REQUIRE(session_id.ok());
  process->Touch("go");
  REQUIRE(process->WaitSaid("done"));
  REQUIRE(rig.client().End(*session_id).ok());
  REQUIRE(rig.client().WaitDone(*session_id).ok());
  const auto session = rig.client().ReadSummary(*session_id);
  REQUIRE(session.ok());
  const uint64_t process_peak = process->PeakBytes();
  const uint64_t server_peak = PeakOf(rig.server().pid());
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  CHECK(session->Losses() == "");
  CHECK(session->summary.events() == Launched(process->Truth()));
  INFO("process " << process_peak / kMegabyte << " MB, server " << server_peak / kMegabyte
                  << " MB");
  // The ring of 64 MB, CUPTI's buffers and what the simulated CUPTI itself holds.
  CHECK(process_peak < 400 * kMegabyte);
  CHECK(server_peak < 700 * kMegabyte);
  WARN("storm of " << launches << ": peak of the process " << process_peak / kMegabyte
                   << " MB, of the server " << server_peak / kMegabyte << " MB");
}

TEST_CASE("while the collector stands still the process goes on, and each loss is counted once") {
  Rig rig;
  const auto process = rig.Run(
      "init\n"
      "say ready\n"
      "wait-file $DIR/go\n"
      "storm 1200000 threads=2 sum\n"
      "say done\n"
      "wait-file $DIR/stop\n");
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  REQUIRE(session_id.ok());
  ::kill(rig.server().pid(), SIGSTOP);
  process->Touch("go");
  const bool went_on = process->WaitSaid("done");
  const uint64_t peak = process->PeakBytes();
  ::kill(rig.server().pid(), SIGCONT);
  REQUIRE(went_on);
  REQUIRE(rig.client().End(*session_id).ok());
  REQUIRE(rig.client().WaitDone(*session_id).ok());
  const auto session = rig.client().ReadSummary(*session_id);
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  REQUIRE(session.ok());
  INFO(session->Losses());
  INFO("recorded " << session->summary.events());
  CHECK(session->Lost(EventKind::kKernel) > 0);
  CHECK(session->Lost(EventKind::kUnspecified, "ring was full") > 0);
  CHECK(session->summary.events() + session->Lost(EventKind::kKernel) ==
        Launched(process->Truth()));
  CHECK(peak < 400 * kMegabyte);
}

TEST_CASE("a capture ends by its own time while its collector stands still") {
  Rig rig;
  const auto process = rig.Run(BusyScript(kEverything), {{"NANOLANE_INJECT_LOG", "1"}});
  REQUIRE(process != nullptr);
  const auto session_id =
      rig.client().Start({.pid = process->pid(), .duration = std::chrono::milliseconds(300)});
  REQUIRE(session_id.ok());
  ::kill(rig.server().pid(), SIGSTOP);
  // The library says on its log when it has stopped.
  while (process->Errors().find("stopped after") == std::string::npos) ::usleep(10'000);
  ::kill(rig.server().pid(), SIGCONT);
  REQUIRE(rig.client().WaitDone(*session_id).ok());
  const auto session = rig.client().Read(*session_id);
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  REQUIRE(session.ok());
  CHECK(session->off_ns() - session->on_ns() == 300'000'000);
  CHECK(Compare(process->Truth(), *session, {.graphs = kGraphs}) == "");
}

struct Work {
  std::string script;
  std::map<std::string, std::string> environment;
};

// Runs the work within one capture of everything.
absl::StatusOr<RecordedSession> CaptureWork(Rig& rig, const Work& work, std::vector<Deed>& truth) {
  const auto process = rig.Run("init\nstream a\nsay ready\nwait-file $DIR/go\n" + work.script +
                                   "say done\nwait-file $DIR/stop\n",
                               work.environment);
  if (process == nullptr) return absl::InternalError("the process did not register");
  const auto session_id = rig.client().Start({.pid = process->pid()});
  if (!session_id.ok()) return session_id.status();
  process->Touch("go");
  if (!process->WaitSaid("done")) return absl::InternalError("the process ended early");
  auto session = rig.client().Finish(*session_id);
  process->Touch("stop");
  if (process->Wait().code != 0) return absl::InternalError("the process failed");
  truth = process->Truth();
  return session;
}

TEST_CASE("records that CUPTI drops are counted as such") {
  Rig rig;
  std::vector<Deed> truth;
  const auto session = CaptureWork(rig,
                                   {.script = "launch a _Z1kv n=40 ns=1000\nsync a\n",
                                    .environment = {{"SIM_DROP_RECORDS", "7"}}},
                                   truth);
  REQUIRE(session.ok());
  INFO(session->Losses());
  CHECK(session->Count(EventKind::kKernel) == 33);
  CHECK(session->Lost(EventKind::kKernel, "CUPTI dropped records") == 7);
  CHECK(session->Lost(EventKind::kKernel) == 7);
}

TEST_CASE("records without times are counted by kind") {
  Rig rig;
  std::vector<Deed> truth;
  const auto session =
      CaptureWork(rig,
                  {.script = "launch a _Z1kv n=30 ns=1000\nsync a\ncopy a h2d bytes=8 n=10\n"
                             "sync a\n",
                   .environment = {{"SIM_ZERO_TIMES", "32"}}},
                  truth);
  REQUIRE(session.ok());
  INFO(session->Losses());
  const uint64_t kernels = session->Lost(EventKind::kKernel, "without possible times");
  const uint64_t copies = session->Lost(EventKind::kMemcpy, "without possible times");
  CHECK(kernels + copies == 32);
  CHECK(session->Count(EventKind::kKernel) + kernels == 30);
  CHECK(session->Count(EventKind::kMemcpy) + copies == 10);
  CHECK(session->Lost(EventKind::kKernel) == kernels);
}

TEST_CASE("what CUPTI kept of a session before does not come into the next one") {
  Rig rig;
  const auto process = rig.Run(BusyScript(kEverything), {{"SIM_STALE_HEAD", "20"}});
  REQUIRE(process != nullptr);
  std::vector<RecordedSession> sessions;
  for (int i = 0; i < 3; ++i) {
    const auto session_id = rig.client().Start({.pid = process->pid()});
    REQUIRE(session_id.ok());
    REQUIRE(
        rig.client()
            .WaitStatus(*session_id, [](const auto& status) { return status.safe_events() > 100; })
            .ok());
    sessions.push_back(*rig.client().Finish(*session_id));
  }
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  for (const RecordedSession& session : sessions) {
    CHECK(Compare(process->Truth(), session, {.graphs = kGraphs}) == "");
  }
}

TEST_CASE("a capture ends when CUPTI breaks, and the process goes on") {
  Rig rig;
  const auto process = rig.Run(
      "stream a\n"
      "say ready\n"
      "wait-file $DIR/go\n"
      "launch a _Z1kv n=10 ns=1000\n"
      "sync a\n"
      "say launched\n"
      "wait-file $DIR/break\n"
      "break-cupti\n"
      "launch a _Z1kv n=10 ns=1000\n"
      "wait-file $DIR/stop\n"
      "launch a _Z1kv n=10 ns=1000\n"
      "sync a\n");
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  REQUIRE(session_id.ok());
  process->Touch("go");
  REQUIRE(process->WaitSaid("launched"));
  REQUIRE(
      rig.client()
          .WaitStatus(*session_id, [](const auto& status) { return status.safe_events() >= 11; })
          .ok());
  process->Touch("break");
  const auto status = rig.client().WaitDone(*session_id);
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  REQUIRE(status.ok());
  CHECK(status->message() == "CUPTI failed in the process");
  const auto session = rig.client().Read(*session_id);
  REQUIRE(session.ok());
  CHECK(session->Count(EventKind::kKernel) >= 10);
}

}  // namespace
}  // namespace nanolane::testing
