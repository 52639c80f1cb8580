#include "tests/live_kill/live_round.h"

#include <algorithm>
#include <csignal>
#include <thread>

#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/status.h"

namespace nanolane::testing {
namespace {

constexpr int kPrograms = 2;
constexpr const char* kProject = "live-kill";

}  // namespace

LiveRound::LiveRound(uint64_t seed) : seed_(seed), random_(seed) {
  threads_ = static_cast<int>(Pick(random_, 1, 3));
  duration_ms_ = Pick(random_, 600, 1'600);
  at_once_ = OneIn(random_, 4);
}

bool LiveRound::Failed(const std::string& doing, const absl::Status& status) {
  if (status.ok()) return false;
  problems_.push_back(base::StrCat(doing, ": ", status.ToString()));
  return true;
}

void LiveRound::StartCaptures() {
  for (size_t i = 0; i < node_->programs(); ++i) {
    collector::v1::StartCaptureRequest request;
    pids_.push_back(static_cast<uint64_t>(node_->program(i).pid()));
    lives_.push_back(true);
    request.set_pid(pids_.back());
    request.mutable_duration()->set_seconds(duration_ms_ / 1'000);
    request.mutable_duration()->set_nanos(static_cast<int32_t>(duration_ms_ % 1'000 * 1'000'000));
    request.set_project(kProject);
    (*request.mutable_labels())["seed"] = base::StrCat(seed_);
    watches_.push_back(std::make_unique<CaptureWatch>(*node_, request));
  }
  if (at_once_) return;
  for (const auto& watch : watches_) Failed("starting a capture", watch->AwaitStarted());
}

// The schedule's own pauses; nothing is waited for.
void LiveRound::Pause(int64_t least_ms, int64_t most_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(Pick(random_, least_ms, most_ms)));
}

void LiveRound::KillCollector() {
  for (const auto& watch : watches_) watch->CollectorGoes();
  node_->collector().Kill();
  ++tally_.collector_kills;
}

void LiveRound::StartAgain(ChildProcess& server) {
  if (server.running() || Failed("starting again", server.Start(kPatience))) return;
  if (&server != &node_->collector()) return;
  for (const auto& watch : watches_) watch->CollectorIsBack();
}

void LiveRound::KillProgram() {
  const auto which = static_cast<size_t>(Pick(random_, 0, kPrograms - 1));
  if (!lives_[which]) return;
  node_->program(which).Kill();
  lives_[which] = false;
  ++tally_.program_kills;
}

void LiveRound::Do(Deed deed) {
  const auto kill_store = [this] {
    node_->store().Kill();
    ++tally_.store_kills;
  };
  const auto stop = [this](ChildProcess& server) {
    server.Signal(SIGSTOP);
    ++tally_.stops;
  };
  switch (deed) {
    case Deed::kKillStore:
      kill_store();
      Pause(0, 250);
      StartAgain(node_->store());
      return;
    case Deed::kKillCollector:
      KillCollector();
      Pause(0, 250);
      StartAgain(node_->collector());
      return;
    case Deed::kKillBoth:
      kill_store();
      // What comes meanwhile is spooled, if there is time for it.
      Pause(0, OneIn(random_, 2) ? 50 : 1'300);
      KillCollector();
      Pause(0, 100);
      StartAgain(OneIn(random_, 2) ? node_->store() : node_->collector());
      Pause(0, 100);
      StartAgain(node_->store());
      StartAgain(node_->collector());
      return;
    case Deed::kStopStore:
      stop(node_->store());
      Pause(50, 400);
      node_->store().Signal(SIGCONT);
      return;
    case Deed::kStopCollector:
      stop(node_->collector());
      Pause(50, 400);
      node_->collector().Signal(SIGCONT);
      return;
    case Deed::kKillCollectorWhileStoreIsStopped:
      stop(node_->store());
      Pause(50, 500);
      KillCollector();
      StartAgain(node_->collector());
      Pause(0, 100);
      node_->store().Signal(SIGCONT);
      return;
    case Deed::kKillProgram: return KillProgram();
    case Deed::kKillProgramWithoutCollector:
      KillCollector();
      Pause(0, 100);
      KillProgram();
      StartAgain(node_->collector());
      return;
  }
}

void LiveRound::Disturb() {
  constexpr Deed kOfServers[] = {Deed::kKillStore,
                                 Deed::kKillCollector,
                                 Deed::kKillCollector,
                                 Deed::kKillBoth,
                                 Deed::kStopStore,
                                 Deed::kStopCollector,
                                 Deed::kKillCollectorWhileStoreIsStopped};
  const int64_t deeds = Pick(random_, 1, 4);
  const int64_t program_at = OneIn(random_, 3) ? Pick(random_, 0, deeds - 1) : -1;
  for (int64_t i = 0; i < deeds && problems_.empty(); ++i) {
    Pause(0, 2 * duration_ms_ / deeds);
    if (i == program_at) {
      Do(OneIn(random_, 2) ? Deed::kKillProgram : Deed::kKillProgramWithoutCollector);
    } else {
      Do(kOfServers[static_cast<size_t>(Pick(random_, 0, std::size(kOfServers) - 1))]);
    }
  }
}

void LiveRound::AwaitEnds() {
  StartAgain(node_->store());
  StartAgain(node_->collector());
  std::vector<std::string> sessions;
  for (const auto& watch : watches_) {
    // The kill of a collector may have come before the answer.
    const absl::Status started = watch->AwaitStarted();
    if (!started.ok() && !at_once_) return;
  }
  const auto stub = node_->StoreStub();
  for (const auto& watch : watches_) {
    const std::string session_id = watch->session_id();
    if (session_id.empty()) continue;
    Failed(base::StrCat("waiting for the end of session ", session_id),
           AwaitEnded(*stub, session_id, kPatience));
  }
  node_->StopPrograms();
  for (size_t i = 0; i < node_->programs(); ++i) {
    if (!node_->program(i).WaitEnded(kPatience)) {
      problems_.push_back(base::StrCat("program ", pids_[i], " does not end"));
    }
  }
}

size_t LiveRound::ProgramOf(uint64_t pid) const {
  return static_cast<size_t>(std::find(pids_.begin(), pids_.end(), pid) - pids_.begin());
}

void LiveRound::CheckSessions() {
  const auto stub = node_->StoreStub();
  grpc::ClientContext context;
  rpc::SetDeadline(context);
  store::v1::ListSessionsResponse response;
  if (Failed("listing sessions", rpc::FromGrpc(stub->ListSessions(&context, {}, &response)))) {
    return;
  }
  for (const auto& watch : watches_) {
    const std::string session_id = watch->session_id();
    const bool is_there = std::any_of(
        response.sessions().begin(), response.sessions().end(),
        [&](const auto& summary) { return summary.session().session_id() == session_id; });
    if (!session_id.empty() && !is_there) {
      problems_.push_back(base::StrCat("session ", session_id, " was started and is not there"));
    }
  }
  for (const auto& summary : response.sessions()) {
    const auto& session = summary.session();
    const std::string& session_id = session.session_id();
    // Where the answer to its start was lost, nobody has waited for it yet.
    if (Failed(base::StrCat("waiting for the end of session ", session_id),
               AwaitEnded(*stub, session_id, kPatience))) {
      continue;
    }
    const absl::StatusOr<StoredSession> stored = ReadStored(*stub, session_id);
    if (Failed(base::StrCat("reading session ", session_id), stored.status())) continue;
    const size_t program = ProgramOf(session.pid());
    if (program == pids_.size()) {
      problems_.push_back(base::StrCat("session ", session_id, " is of process ", session.pid()));
      continue;
    }
    CaptureExpectation expectation = {.lived = lives_[program],
                                      .threads = static_cast<uint64_t>(threads_)};
    for (const auto& watch : watches_) {
      if (watch->session_id() == session_id) expectation.safe_events = watch->safe_events();
    }
    CaptureVerdict verdict =
        CheckCapture(*stored, ReadTruth(node_->truth_file(program)), expectation);
    const auto& known = stored->summary.session();
    const auto label = known.labels().find("seed");
    if (known.project() != kProject || label == known.labels().end()) {
      verdict.problems.push_back(base::StrCat("session ", session_id, " has project \"",
                                              known.project(), "\" and lost its labels"));
    }
    problems_.insert(problems_.end(), verdict.problems.begin(), verdict.problems.end());
    ++tally_.sessions;
    tally_.adopted += stored->epochs.size() > 1 ? 1 : 0;
    tally_.expected += verdict.expected;
    tally_.stored += verdict.stored;
    tally_.missing += verdict.missing;
    tally_.unlaunched += verdict.unlaunched;
    tally_.safe += expectation.safe_events;
  }
}

std::vector<std::string> LiveRound::Run() {
  const ProgramShape shape = {.stop_file = "",
                              .threads = threads_,
                              .sleep_us = static_cast<int>(Pick(random_, 1'000, 4'000))};
  node_ = std::make_unique<LiveNode>(std::vector<std::string>(), kPrograms, shape);
  auto begin = std::chrono::steady_clock::now();
  const auto step = [&](const char* name, const auto& work) {
    if (!problems_.empty()) return;
    work();
    const auto end = std::chrono::steady_clock::now();
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(end - begin);
    tally_.times += base::StrCat(tally_.times.empty() ? "" : ", ", name, " ", took.count());
    begin = end;
  };
  step("servers", [this] { Failed("starting", node_->Start()); });
  step("programs", [this] { Failed("registering", node_->AwaitPrograms()); });
  step("captures", [this] { StartCaptures(); });
  step("kills", [this] { Disturb(); });
  step("ends", [this] { AwaitEnds(); });
  step("checks", [this] { CheckSessions(); });
  if (!problems_.empty()) problems_.push_back(node_->Describe());
  for (const auto& watch : watches_) watch->Stop();
  return problems_;
}

}  // namespace nanolane::testing
