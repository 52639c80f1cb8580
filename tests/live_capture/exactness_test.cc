// What is recorded is what the process did, call by call, however captures begin and end.
#include <catch2/catch.hpp>
#include <memory>

#include "tests/live_capture/support/rig.h"
#include "tests/live_capture/support/scripts.h"

namespace nanolane::testing {
namespace {

namespace v1 = nanolane::collector::v1;
using trace::EventKind;

TEST_CASE("a capture of everything has every call of its window and nothing else") {
  Rig rig;
  const auto process = rig.Run(BusyScript(kEverything));
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  REQUIRE(session_id.ok());
  REQUIRE(
      rig.client()
          .WaitStatus(*session_id, [](const auto& status) { return status.safe_events() > 500; })
          .ok());
  const auto session = rig.client().Finish(*session_id);
  REQUIRE(session.ok());
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  const auto truth = process->Truth();
  CHECK(Compare(truth, *session, {.graphs = kGraphs}) == "");
  CHECK(session->Losses() == "");
  CHECK(session->end() == "ended on request");
  CHECK(session->session().ended());
  CHECK(CountInside(truth, *session, "graph") > 5);
}

TEST_CASE("a capture of one kind has that kind alone") {
  struct Case {
    v1::CaptureKind kind;
    EventKind event;
  };
  const Case cases[] = {
      {v1::CAPTURE_KIND_KERNEL, EventKind::kKernel}, {v1::CAPTURE_KIND_MEMCPY, EventKind::kMemcpy},
      {v1::CAPTURE_KIND_MEMSET, EventKind::kMemset}, {v1::CAPTURE_KIND_SYNC, EventKind::kSync},
      {v1::CAPTURE_KIND_NVTX, EventKind::kNvtx},     {v1::CAPTURE_KIND_MEMORY, EventKind::kMemory},
      {v1::CAPTURE_KIND_LAUNCH, EventKind::kApi},
  };
  Rig rig;
  const auto process = rig.Run(BusyScript(kEverything));
  REQUIRE(process != nullptr);
  std::vector<RecordedSession> sessions;
  for (const Case& one : cases) {
    const auto session_id = rig.client().Start({.pid = process->pid(), .kinds = {one.kind}});
    REQUIRE(session_id.ok());
    if (one.kind != v1::CAPTURE_KIND_LAUNCH) {
      REQUIRE(
          rig.client()
              .WaitStatus(*session_id, [](const auto& status) { return status.safe_events() > 20; })
              .ok());
    }
    auto session = rig.client().Finish(*session_id);
    REQUIRE(session.ok());
    sessions.push_back(*std::move(session));
  }
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  const auto truth = process->Truth();
  for (size_t i = 0; i < sessions.size(); ++i) {
    INFO("kind " << v1::CaptureKind_Name(cases[i].kind));
    CHECK(sessions[i].Count(cases[i].event) == sessions[i].events.size());
    CHECK(Compare(truth, sessions[i],
                  {.has_launches = false, .kinds = {cases[i].event}, .graphs = kGraphs}) == "");
    CHECK(sessions[i].Losses() == "");
  }
}

// Captures one after the other of a process that works all the time.
std::vector<RecordedSession> CaptureAgain(CaptureClient& client, uint64_t pid, int captures,
                                          uint64_t events_of_each) {
  std::vector<RecordedSession> sessions;
  for (int i = 0; i < captures; ++i) {
    const auto session_id = client.Start({.pid = pid});
    INFO(session_id.status());
    REQUIRE(session_id.ok());
    if (events_of_each > 0) {
      REQUIRE(client
                  .WaitStatus(
                      *session_id,
                      [&](const auto& status) { return status.safe_events() >= events_of_each; })
                  .ok());
    }
    auto session = client.Finish(*session_id);
    REQUIRE(session.ok());
    sessions.push_back(*std::move(session));
  }
  return sessions;
}

TEST_CASE("every window is exact when a busy process is captured twenty times") {
  Rig rig;
  const auto process = rig.Run(BusyScript(kEverything));
  REQUIRE(process != nullptr);
  const auto sessions = CaptureAgain(rig.client(), process->pid(), 20, 50);
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  const auto truth = process->Truth();
  for (const RecordedSession& session : sessions) {
    CHECK(Compare(truth, session, {.graphs = kGraphs}) == "");
    CHECK(session.Losses() == "");
  }
}

TEST_CASE("five sessions back to back are exact, also those that are ended at once") {
  Rig rig;
  const auto process = rig.Run(BusyScript(kEverything));
  REQUIRE(process != nullptr);
  const auto sessions = CaptureAgain(rig.client(), process->pid(), 5, 0);
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  const auto truth = process->Truth();
  for (const RecordedSession& session : sessions) {
    CHECK(Compare(truth, session, {.graphs = kGraphs}) == "");
    CHECK(session.Losses() == "");
  }
}

TEST_CASE("a capture can begin as soon as the one before has been asked to end") {
  Rig rig;
  const auto process = rig.Run(BusyScript(kEverything));
  REQUIRE(process != nullptr);
  std::vector<std::string> session_ids;
  for (int i = 0; i < 6; ++i) {
    absl::StatusOr<std::string> session_id = absl::UnknownError("");
    // Until the collector has heard that the one before is over it refuses.
    do {
      session_id = rig.client().Start({.pid = process->pid()});
    } while (absl::IsAlreadyExists(session_id.status()));
    INFO(session_id.status());
    REQUIRE(session_id.ok());
    session_ids.push_back(*session_id);
    REQUIRE(rig.client().End(*session_id).ok());
  }
  std::vector<RecordedSession> sessions;
  for (const std::string& session_id : session_ids) {
    REQUIRE(rig.client().WaitDone(session_id).ok());
    sessions.push_back(*rig.client().Read(session_id));
  }
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  const auto truth = process->Truth();
  for (const RecordedSession& session : sessions) {
    CHECK(Compare(truth, session, {.graphs = kGraphs}) == "");
    CHECK(session.Losses() == "");
  }
}

TEST_CASE("32 threads with streams of their own are told apart while captures begin and end") {
  Rig rig;
  const auto process = rig.Run(
      "init\n"
      "say ready\n"
      "threads 32\n"
      "  event e\n"
      "  loop-until-file $DIR/stop\n"
      "    push step\n"
      "    launch per-thread _Z3addPfS_i n=3 ns=500\n"
      "    copy per-thread h2d bytes=100\n"
      "    record e per-thread\n"
      "    sync-event e\n"
      "    sync per-thread\n"
      "    pop\n"
      "    sleep us=2000\n"
      "  end\n"
      "end\n");
  REQUIRE(process != nullptr);
  const auto sessions = CaptureAgain(rig.client(), process->pid(), 8, 2000);
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  const auto truth = process->Truth();
  for (const RecordedSession& session : sessions) {
    CHECK(Compare(truth, session) == "");
    CHECK(session.Losses() == "");
    std::set<int64_t> streams;
    for (const trace::Lane& lane : session.lanes) {
      if (lane.kind == trace::LaneKind::kStream) streams.insert(lane.stream);
    }
    CHECK(streams.size() > 2);
  }
}

TEST_CASE("two processes on different devices are captured at once, each for itself") {
  Rig rig;
  const auto first = rig.Run(BusyScript(kEverything));
  const auto second = rig.Run("device 1\n" + BusyScript(kEverything));
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  const auto first_id = rig.client().Start({.pid = first->pid()});
  const auto second_id = rig.client().Start({.pid = second->pid()});
  REQUIRE(first_id.ok());
  REQUIRE(second_id.ok());
  for (const std::string& session_id : {*first_id, *second_id}) {
    REQUIRE(
        rig.client()
            .WaitStatus(session_id, [](const auto& status) { return status.safe_events() > 200; })
            .ok());
  }
  const auto first_session = rig.client().Finish(*first_id);
  const auto second_session = rig.client().Finish(*second_id);
  for (const auto& process : {first.get(), second.get()}) {
    process->Touch("stop");
    CHECK(process->Wait().code == 0);
  }
  REQUIRE(first_session.ok());
  REQUIRE(second_session.ok());
  CHECK(Compare(first->Truth(), *first_session, {.graphs = kGraphs}) == "");
  CHECK(Compare(second->Truth(), *second_session, {.graphs = kGraphs}) == "");
  CHECK(first_session->session().pid() == first->pid());
  CHECK(second_session->session().pid() == second->pid());
}

TEST_CASE("a capture ends by itself when its time is over, and has all of that time") {
  Rig rig;
  // Turning on takes its time, which is not the capture's.
  const auto process = rig.Run(BusyScript(kEverything), {{"SIM_FIRST_ENABLE_MS", "150"}});
  REQUIRE(process != nullptr);
  const auto session_id =
      rig.client().Start({.pid = process->pid(), .duration = std::chrono::milliseconds(250)});
  REQUIRE(session_id.ok());
  REQUIRE(rig.client().WaitDone(*session_id).ok());
  const auto session = rig.client().Read(*session_id);
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  REQUIRE(session.ok());
  CHECK(Compare(process->Truth(), *session, {.graphs = kGraphs}) == "");
  CHECK(session->off_ns() - session->on_ns() == 250'000'000);
  CHECK(session->end() == "its time was over");
}

TEST_CASE("a wait that is in progress when the capture ends is recorded up to its end") {
  Rig rig;
  const auto process = rig.Run(
      "stream a\n"
      "say ready\n"
      "wait-file $DIR/go\n"
      "launch a _Z4longv ns=600000000\n"
      "sync a\n"
      "wait-file $DIR/stop\n");
  REQUIRE(process != nullptr);
  const auto session_id =
      rig.client().Start({.pid = process->pid(), .duration = std::chrono::milliseconds(300)});
  REQUIRE(session_id.ok());
  process->Touch("go");
  REQUIRE(rig.client().WaitDone(*session_id).ok());
  const auto session = rig.client().Read(*session_id);
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  REQUIRE(session.ok());
  CHECK(session->Losses() == "");
  REQUIRE(session->Count(EventKind::kSync) == 1);
  REQUIRE(session->Count(EventKind::kKernel) == 1);
  for (const RecordedEvent& recorded : session->events) {
    if (recorded.op->op.kind != EventKind::kSync) continue;
    CHECK(recorded.event.start_ns + recorded.event.duration_ns == session->off_ns());
    CHECK(recorded.event.thread == process->Truth()[0].thread);
    CHECK(recorded.lane->stream == process->Truth()[0].stream);
  }
}

TEST_CASE("ranges that are open at either end of the capture are told apart") {
  Rig rig;
  const auto process = rig.Run(
      "init\n"
      "push outer\n"
      "push \"other domain\" domain=net\n"
      "say ready\n"
      "wait-file $DIR/go\n"
      "push inner\n"
      "pop\n"
      "pop\n"
      "push \"still open\"\n"
      "push nested\n"
      "mark here domain=net\n"
      "pop domain=net\n"
      "say done\n"
      "wait-file $DIR/stop\n"
      "pop\n"
      "pop\n");
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  REQUIRE(session_id.ok());
  process->Touch("go");
  REQUIRE(process->WaitSaid("done"));
  const auto session = rig.client().Finish(*session_id);
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  REQUIRE(session.ok());
  CHECK(Compare(process->Truth(), *session) == "");
  CHECK(session->Losses() == "");
  // inner, outer and that of the other domain, which began before; two that are open; a mark.
  CHECK(session->Count(EventKind::kNvtx) == 6);
}

}  // namespace
}  // namespace nanolane::testing
