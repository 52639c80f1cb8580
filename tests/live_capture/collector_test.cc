// Collectors that go and come, stores that are away, and who follows a capture meanwhile.
#include <catch2/catch.hpp>
#include <csignal>
#include <set>

#include "libs/base/str_cat.h"
#include "libs/rpc/channel.h"
#include "libs/trace/block_codec.h"
#include "tests/live_capture/support/rig.h"
#include "tests/live_capture/support/scripts.h"

namespace nanolane::testing {
namespace {

namespace query_v1 = nanolane::query::v1;
using trace::EventKind;

TEST_CASE("a collector that is killed during a capture hands it to the next, each event once") {
  Rig rig;
  const auto process = rig.Run(BusyScript(kEverything));
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  REQUIRE(session_id.ok());
  const auto has_more = [&](uint64_t events) {
    return rig.client()
        .WaitStatus(*session_id,
                    [events](const auto& status) { return status.safe_events() >= events; })
        .ok();
  };
  REQUIRE(has_more(300));
  for (int i = 0; i < 2; ++i) {
    REQUIRE(rig.Restart(SIGKILL).ok());
    REQUIRE(rig.client().WaitRegistered(process->pid()));
    REQUIRE(has_more(100));
  }
  const auto session = rig.client().Finish(*session_id);
  REQUIRE(session.ok());
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  // What is in use cannot be added up any more by a collector that began later.
  CHECK(Compare(process->Truth(), *session, {.graphs = kGraphs, .has_levels = false}) == "");
  CHECK(session->Losses() == "");
  CHECK(session->epochs.size() == 3);
  CHECK(session->end() == "ended on request");
}

TEST_CASE("a capture ends by its own time without a collector, and the next one delivers it") {
  Rig rig;
  const auto process =
      rig.Run(BusyScript("launch a _Z1kv n=3 ns=500\nsync a\nsleep us=500\n", "stream a\n"),
              {{"NANOLANE_INJECT_LOG", "1"}});
  REQUIRE(process != nullptr);
  const auto session_id =
      rig.client().Start({.pid = process->pid(), .duration = std::chrono::milliseconds(400)});
  REQUIRE(session_id.ok());
  rig.server().Stop(SIGKILL);
  while (process->Errors().find("stopped after") == std::string::npos) ::usleep(10'000);
  REQUIRE(rig.Restart(SIGKILL).ok());
  REQUIRE(rig.client().WaitEnded(*session_id));
  const auto session = rig.client().Read(*session_id);
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  REQUIRE(session.ok());
  CHECK(session->off_ns() - session->on_ns() == 400'000'000);
  CHECK(session->end() == "its time was over");
  CHECK(Compare(process->Truth(), *session) == "");
  CHECK(session->Losses() == "");
}

TEST_CASE("a process that no collector knows runs as if there were no library") {
  TempFolder folder;
  SimProcess process({.socket = folder.path() + "/none.sock",
                      .script = "init\nstream a\nlaunch a _Z1kv n=100\nsync a\nexit 5\n"});
  CHECK(process.Wait().code == 5);
  CHECK(process.Truth().size() == 101);
  CHECK(process.Errors() == "");
}

TEST_CASE("processes start and end unharmed while their collector comes and goes") {
  Rig rig;
  const int starts = std::getenv("NANOLANE_LONG") != nullptr ? 500 : 100;
  std::vector<std::unique_ptr<SimProcess>> running;
  int failed = 0;
  for (int i = 0; i < starts; ++i) {
    running.push_back(std::make_unique<SimProcess>(SimOptions{
        .socket = rig.socket(), .script = "init\nlaunch default _Z1kv n=5\nsync default\n"}));
    if (i % 10 == 9) REQUIRE(rig.server().Restart(i % 20 == 9 ? SIGKILL : SIGTERM).ok());
    if (running.size() < 4) continue;
    if (running.front()->Wait().code != 0) ++failed;
    running.erase(running.begin());
  }
  for (const auto& process : running) {
    if (process->Wait().code != 0) ++failed;
  }
  CHECK(failed == 0);
}

// A store and a collector as programs of their own.
class Apart {
 public:
  Apart() {
    StartStore("127.0.0.1:0");
    collector_ = std::make_unique<ChildProcess>(ChildOptions{
        .arguments = {SiblingBinary("nanolane-collector"), "--store", store_address_, "--listen",
                      "127.0.0.1:0", "--socket", socket(), "--spool", folder_.path() + "/spool"},
        .errors = folder_.path() + "/collector.log"});
    collector_address_ = AddressOf(*collector_);
  }

  std::string socket() const { return folder_.path() + "/collector.sock"; }
  std::unique_ptr<CaptureClient> NewClient() const {
    return std::make_unique<CaptureClient>(collector_address_, store_address_);
  }
  void KillStore() {
    store_->Signal(SIGKILL);
    store_->Wait();
  }
  // At the address that the collector has for it.
  void RestartStore() { StartStore(store_address_); }

 private:
  static std::string AddressOf(ChildProcess& server) {
    std::string line;
    if (!server.WaitForLine("listening on ", &line)) return "";
    return line.substr(line.rfind(' ') + 1);
  }
  void StartStore(const std::string& listen) {
    store_ = std::make_unique<ChildProcess>(
        ChildOptions{.arguments = {SiblingBinary("nanolane-store"), "--data",
                                   folder_.path() + "/data", "--listen", listen},
                     .errors = folder_.path() + "/store.log"});
    store_address_ = AddressOf(*store_);
  }

  TempFolder folder_;
  std::unique_ptr<ChildProcess> store_;
  std::unique_ptr<ChildProcess> collector_;
  std::string store_address_;
  std::string collector_address_;
};

TEST_CASE("what is recorded while the store is away arrives when it is back, each event once") {
  Apart apart;
  const auto client = apart.NewClient();
  SimProcess process({.socket = apart.socket(), .script = BusyScript(kEverything)});
  REQUIRE(process.WaitSaid("ready"));
  REQUIRE(client->WaitRegistered(process.pid()));
  const auto session_id = client->Start({.pid = process.pid()});
  REQUIRE(session_id.ok());
  const auto wait = [&](const auto& wanted) {
    return client->WaitStatus(*session_id, wanted).ok();
  };
  REQUIRE(wait([](const auto& status) { return status.safe_events() > 200; }));
  apart.KillStore();
  REQUIRE(wait([](const auto& status) { return status.spooled_bytes() > 10'000; }));
  const bool ends_before = std::getenv("NANOLANE_LONG") != nullptr && GENERATE(false, true);
  if (ends_before) REQUIRE(client->End(*session_id).ok());
  apart.RestartStore();
  REQUIRE(client->End(*session_id).ok());
  REQUIRE(client->WaitDone(*session_id).ok());
  const auto session = apart.NewClient()->Read(*session_id);
  process.Touch("stop");
  CHECK(process.Wait().code == 0);
  REQUIRE(session.ok());
  CHECK(Compare(process.Truth(), *session, {.graphs = kGraphs}) == "");
  CHECK(session->Losses() == "");
  CHECK(session->session().ended());
}

TEST_CASE("whoever follows a session gets its events while it is recorded") {
  Rig rig;
  const auto process =
      rig.Run(BusyScript("launch a _Z1kv ns=500\nsync a\nsleep us=500\n", "stream a\n"));
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  REQUIRE(session_id.ok());
  grpc::ClientContext context;
  rpc::SetDeadline(context, std::chrono::seconds(60));
  query_v1::FollowRequest request;
  request.set_session_id(*session_id);
  request.set_max_block_version(trace::kBlockVersion);
  const auto stream = rig.client().query().Follow(&context, request);
  query_v1::FollowResponse response;
  uint64_t events = 0;
  bool had_ended = false;
  while (events < 200 && stream->Read(&response)) {
    if (response.has_summary()) had_ended = response.summary().session().ended();
    for (const auto& block : response.blocks()) {
      trace::EventColumns columns;
      REQUIRE(trace::DecodeBlock(block.data(), trace::ColumnSet::All(), columns).ok());
      events += columns.size();
    }
  }
  context.TryCancel();
  stream->Finish();
  CHECK(events >= 200);
  CHECK_FALSE(had_ended);
  CHECK(rig.client().Finish(*session_id).ok());
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
}

}  // namespace
}  // namespace nanolane::testing
