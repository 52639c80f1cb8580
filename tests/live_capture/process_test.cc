// Processes that fork, end, are killed, or close what they did not open, while they are recorded.
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include "tests/live_capture/support/rig.h"
#include "tests/live_capture/support/scripts.h"

namespace nanolane::testing {
namespace {

using trace::EventKind;

TEST_CASE("a process that forks while it is recorded stays exact, whatever its children do") {
  Rig rig;
  // One child ends at once, one lives on beyond its parent's capture.
  const auto process = rig.Run(BusyScript(std::string(kEverything) + "fork\n"
                                                                     "end\n"
                                                                     "fork apart\n"
                                                                     "  wait-file $DIR/stop\n"
                                                                     "end\n"
                                                                     "sleep us=20000\n"));
  REQUIRE(process != nullptr);
  std::vector<RecordedSession> sessions;
  for (int i = 0; i < 2; ++i) {
    const auto session_id = rig.client().Start({.pid = process->pid()});
    REQUIRE(session_id.ok());
    REQUIRE(
        rig.client()
            .WaitStatus(*session_id, [](const auto& status) { return status.safe_events() > 100; })
            .ok());
    auto session = rig.client().Finish(*session_id);
    REQUIRE(session.ok());
    sessions.push_back(*std::move(session));
  }
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  const auto truth = process->Truth();
  for (const RecordedSession& session : sessions) {
    CHECK(Compare(truth, session, {.graphs = kGraphs}) == "");
    CHECK(session.Losses() == "");
  }
}

TEST_CASE("a process that exits while it is recorded leaves all that it has finished") {
  Rig rig;
  const auto process = rig.Run(
      "stream a\n"
      "say ready\n"
      "wait-file $DIR/go\n"
      "push open\n"
      "launch a _Z1kv n=200 ns=1000\n"
      "copy a h2d bytes=10\n"
      "sync a\n"
      "exit 3\n");
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  REQUIRE(session_id.ok());
  process->Touch("go");
  CHECK(process->Wait().code == 3);
  const auto status = rig.client().WaitDone(*session_id);
  REQUIRE(status.ok());
  CHECK(status->message() == "the process ended");
  const auto session = rig.client().Read(*session_id);
  REQUIRE(session.ok());
  CHECK(session->session().ended());
  CHECK(session->Losses() == "");
  CHECK(Compare(process->Truth(), *session) == "");
  CHECK(session->Count(EventKind::kKernel) == 200);
}

TEST_CASE("a process that ends without notice ends its session, which says that there is a loss") {
  const bool by_signal = GENERATE(false, true);
  Rig rig;
  const auto process = rig.Run(
      "stream a\n"
      "say ready\n"
      "wait-file $DIR/go\n"
      "launch a _Z1kv n=50 ns=1000\n"
      "sync a\n"
      "say done\n"
      "wait-file $DIR/end\n"
      "quick-exit 4\n");
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  REQUIRE(session_id.ok());
  process->Touch("go");
  REQUIRE(process->WaitSaid("done"));
  REQUIRE(
      rig.client()
          .WaitStatus(*session_id, [](const auto& status) { return status.safe_events() >= 51; })
          .ok());
  if (by_signal) {
    process->Signal(SIGKILL);
  } else {
    process->Touch("end");
  }
  CHECK(process->Wait().code == (by_signal ? -1 : 4));
  const auto status = rig.client().WaitDone(*session_id);
  REQUIRE(status.ok());
  CHECK(status->message().find("the process ended while it was recorded") == 0);
  const auto session = rig.client().Read(*session_id);
  REQUIRE(session.ok());
  CHECK(session->session().ended());
  CHECK(session->Count(EventKind::kKernel) == 50);
  CHECK(session->Lost(EventKind::kUnspecified, "the process ended") == 1);
}

TEST_CASE("a process may close every descriptor, also while it is recorded") {
  Rig rig;
  const auto process = rig.Run(
      "init\n"
      "say ready\n"
      "wait-file $DIR/close\n"
      "close-descriptors\n"
      "say closed\n" +
      std::string(kObjects) + "loop-until-file $DIR/stop\n" + kEverything + "end\n");
  REQUIRE(process != nullptr);
  // The first command after it is lost with the connection that it is sent on, for 20 s.
  SECTION("dormant: it registers anew, and can be captured") {
    if (std::getenv("NANOLANE_LONG") == nullptr) {
      process->Touch("close");
      process->Touch("stop");
      CHECK(process->Wait().code == 0);
      return;
    }
    process->Touch("close");
    REQUIRE(process->WaitSaid("closed"));
    absl::StatusOr<std::string> session_id = absl::UnknownError("");
    do {
      session_id = rig.client().Start({.pid = process->pid()});
    } while (absl::IsDeadlineExceeded(session_id.status()) ||
             absl::IsNotFound(session_id.status()) ||
             absl::IsFailedPrecondition(session_id.status()));
    INFO(session_id.status());
    REQUIRE(session_id.ok());
    const auto session = rig.client().Finish(*session_id);
    process->Touch("stop");
    CHECK(process->Wait().code == 0);
    REQUIRE(session.ok());
    CHECK(Compare(process->Truth(), *session, {.graphs = kGraphs, .has_levels = false}) == "");
  }
  SECTION("recorded: the capture goes on, and ends") {
    const auto session_id =
        rig.client().Start({.pid = process->pid(), .duration = std::chrono::milliseconds(600)});
    REQUIRE(session_id.ok());
    process->Touch("close");
    REQUIRE(process->WaitSaid("closed"));
    REQUIRE(rig.client().WaitDone(*session_id).ok());
    const auto session = rig.client().Read(*session_id);
    process->Touch("stop");
    CHECK(process->Wait().code == 0);
    REQUIRE(session.ok());
    // Nothing had been allocated when it began: no context, no level.
    CHECK(Compare(process->Truth(), *session, {.graphs = kGraphs, .has_levels = false}) == "");
  }
}

}  // namespace
}  // namespace nanolane::testing
