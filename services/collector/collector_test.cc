#include "services/collector/collector.h"

#include <unistd.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "catch2/catch.hpp"
#include "libs/base/clock.h"
#include "libs/rpc/channel.h"
#include "libs/rpc/server.h"
#include "services/collector/collector_service.h"
#include "services/collector/delivery/test_support.h"
#include "services/collector/testing/fake_proc.h"
#include "services/collector/testing/scripted_library.h"

namespace nanolane::collector {
namespace {

using Milliseconds = std::chrono::milliseconds;

// A collector with a store, a /proc of its own in which this process runs, and short patience.
struct Node {
  Node() {
    using namespace std::string_literals;
    proc.AddProcess(Pid(), "/usr/bin/python3", "python3\0train.py\0"s);
    options.socket = folder.path() + "/socket";
    options.spool_folder = folder.path() + "/spool";
    options.store = store.channel();
    options.proc = proc.path();
    options.ring_pages = 16;
    options.delivery = QuickOptions(store);
    options.delivery.memory_bytes = 1 << 20;
    options.times = {.start = Milliseconds(2'000),
                     .first_append = Milliseconds(500),
                     .store_retry = Milliseconds(10),
                     .end = Milliseconds(300)};
  }
  void Start() { collector = *Collector::Start(options, clock); }

  static uint64_t Pid() { return static_cast<uint64_t>(getpid()); }
  static v1::StartCaptureRequest Request(int64_t seconds = 60) {
    v1::StartCaptureRequest request;
    request.set_pid(Pid());
    request.mutable_duration()->set_seconds(seconds);
    return request;
  }

  // Asks for a capture, which answers once the library has.
  std::future<absl::StatusOr<v1::StartCaptureResponse>> Ask(
      const v1::StartCaptureRequest& request) {
    return std::async(std::launch::async,
                      [this, request] { return collector->StartCapture(request); });
  }
  // A library that has registered.
  ScriptedLibrary Register() {
    ScriptedLibrary library(collector->socket());
    WaitProcess([](const v1::Process&) { return true; });
    return library;
  }
  // A capture that records.
  std::string Record(ScriptedLibrary& library, const v1::StartCaptureRequest& request = Request()) {
    auto asked = Ask(request);
    const wire::Start start = library.TakeStart();
    library.Begin(start, clock.MonotonicNanos());
    const auto answer = asked.get();
    REQUIRE(answer.ok());
    return answer->session_id();
  }

  template <typename Condition>
  v1::Process WaitProcess(Condition condition) {
    return Wait<v1::Process>([&]() -> std::optional<v1::Process> {
      const auto processes = collector->ListProcesses();
      if (processes.empty() || !condition(processes[0])) return std::nullopt;
      return processes[0];
    });
  }
  template <typename Condition>
  v1::CaptureStatus WaitStatus(const std::string& session_id, Condition condition) {
    return Wait<v1::CaptureStatus>([&]() -> std::optional<v1::CaptureStatus> {
      for (const auto& status : collector->ListCaptures()) {
        if (status.session_id() == session_id && condition(status)) return status;
      }
      return std::nullopt;
    });
  }
  v1::CaptureStatus WaitState(const std::string& session_id, v1::CaptureState state) {
    return WaitStatus(session_id,
                      [state](const v1::CaptureStatus& status) { return status.state() == state; });
  }
  template <typename Value, typename Look>
  static Value Wait(Look look) {
    const auto deadline = std::chrono::steady_clock::now() + kSoon;
    for (;;) {
      if (std::optional<Value> found = look()) return *found;
      if (std::chrono::steady_clock::now() > deadline) FAIL("waited in vain");
      std::this_thread::yield();
    }
  }

  const testing::TempFolder folder;
  FakeProc proc;
  FakeStore store;
  base::SystemClock clock;
  CollectorOptions options;
  std::unique_ptr<Collector> collector;
};

uint64_t EventsOf(const v1::CaptureStatus& status) {
  uint64_t events = 0;
  for (const auto& count : status.by_kind()) events += count.count();
  return events;
}

}  // namespace

TEST_CASE("a process that registers is listed with what it is") {
  Node node;
  node.Start();
  CHECK(node.collector->ListProcesses().empty());
  ScriptedLibrary library = node.Register();
  library.SendGpus(2);
  const v1::Process process =
      node.WaitProcess([](const v1::Process& one) { return one.gpus_size() == 2; });
  CHECK(process.pid() == Node::Pid());
  CHECK(process.executable() == "/usr/bin/python3");
  CHECK(process.command_line_size() == 2);
  CHECK(process.project() == "hand");
  CHECK(process.state() == v1::PROCESS_STATE_READY);
  CHECK(process.gpus(0).name() == "H200");
  // More than the message has room for.
  library.SendGpus(1'000);
  node.WaitProcess([](const v1::Process& one) { return one.gpus_size() == int{wire::kMaxGpus}; });
  library.Disconnect();
  Node::Wait<bool>([&]() -> std::optional<bool> {
    if (node.collector->ListProcesses().empty()) return true;
    return std::nullopt;
  });
}

TEST_CASE("a capture from its start to its end") {
  Node node;
  node.Start();
  ScriptedLibrary library = node.Register();
  auto request = Node::Request();
  request.set_project("llm");
  (*request.mutable_labels())["team"] = "research";
  const std::string session_id = node.Record(library, request);
  // The store has heard of it.
  const auto known = node.store.SessionOf(session_id);
  CHECK(known.project() == "llm");
  CHECK(known.labels().at("team") == "research");
  CHECK_FALSE(known.ended());
  CHECK(node.WaitProcess(
                [](const v1::Process& one) { return one.state() == v1::PROCESS_STATE_CAPTURING; })
            .session_id() == session_id);

  const int64_t now = node.clock.MonotonicNanos();
  library.WriteRanges(500, now);
  const auto recording = node.WaitStatus(
      session_id, [](const v1::CaptureStatus& status) { return status.safe_events() == 500; });
  CHECK(recording.state() == v1::CAPTURE_STATE_RECORDING);
  CHECK(EventsOf(recording) == 500);
  CHECK(recording.pid() == Node::Pid());
  CHECK(recording.duration().seconds() == 60);

  REQUIRE(node.collector->EndCapture(session_id).ok());
  library.peer().Expect<wire::Stop>(wire::MessageType::kStop);
  // Once is enough.
  REQUIRE(node.collector->EndCapture(session_id).ok());
  library.WriteRanges(7, now + 1'000);
  library.EndRing(wire::StopReason::kAsked, node.clock.MonotonicNanos());
  library.SayStopped();
  library.peer().Expect<wire::Release>(wire::MessageType::kRelease);
  const auto done = node.WaitState(session_id, v1::CAPTURE_STATE_DONE);
  CHECK(EventsOf(done) == 507);
  CHECK(done.safe_events() == 507);
  CHECK(done.message() == "ended on request");
  CHECK(done.losses().empty());
  const auto stored = node.store.SessionOf(session_id);
  CHECK(stored.ended());
  CHECK(stored.labels().at("capture.end") == "ended on request");
  CHECK(stored.labels().at("capture.cupti") == "130101");
  node.WaitProcess([](const v1::Process& one) { return one.state() == v1::PROCESS_STATE_READY; });
  // Still listed, and asking for its end does no harm.
  CHECK(node.collector->EndCapture(session_id).ok());
  uint64_t version = 0;
  CHECK(node.collector->WaitCapture(session_id, version, Milliseconds(0))->state() ==
        v1::CAPTURE_STATE_DONE);
  // And the next one.
  CHECK(node.Record(library) != session_id);
}

TEST_CASE("requests that cannot be are refused") {
  Node node;
  node.Start();
  ScriptedLibrary library = node.Register();
  auto unknown = Node::Request();
  unknown.set_pid(1);
  CHECK(absl::IsNotFound(node.collector->StartCapture(unknown).status()));
  for (const int64_t seconds : {int64_t{0}, int64_t{-1}, int64_t{601}, int64_t{1} << 62}) {
    CHECK(absl::IsInvalidArgument(node.collector->StartCapture(Node::Request(seconds)).status()));
  }
  auto above = Node::Request(600);
  above.mutable_duration()->set_nanos(1);
  CHECK(absl::IsInvalidArgument(node.collector->StartCapture(above).status()));
  auto kinds = Node::Request();
  kinds.add_kinds(v1::CAPTURE_KIND_UNSPECIFIED);
  CHECK(absl::IsInvalidArgument(node.collector->StartCapture(kinds).status()));
  CHECK(absl::IsNotFound(node.collector->EndCapture("0123")));
  uint64_t version = 0;
  CHECK(absl::IsNotFound(node.collector->WaitCapture("0123", version, Milliseconds(0)).status()));

  auto few = Node::Request(1);
  few.add_kinds(v1::CAPTURE_KIND_NVTX);
  auto asked = node.Ask(few);
  const wire::Start start = library.TakeStart();
  CHECK(start.kinds == wire::kKindNvtx);
  CHECK(start.duration_ns == 1'000'000'000);
  library.Begin(start, node.clock.MonotonicNanos());
  const auto answer = asked.get();
  REQUIRE(answer.ok());
  REQUIRE(answer->kinds_size() == 1);
  CHECK(answer->kinds(0) == v1::CAPTURE_KIND_NVTX);
  const auto second = node.collector->StartCapture(Node::Request());
  CHECK(absl::IsAlreadyExists(second.status()));
  CHECK(std::string(second.status().message()).find(answer->session_id()) != std::string::npos);
}

TEST_CASE("what the library refuses is told, and shown until it works") {
  Node node;
  node.Start();
  ScriptedLibrary library = node.Register();
  auto asked = node.Ask(Node::Request());
  library.Refuse(library.TakeStart(), wire::RefusalCode::kOtherTool, "another tool holds CUPTI");
  const auto refused = asked.get();
  CHECK(absl::IsFailedPrecondition(refused.status()));
  CHECK(refused.status().message() == "another tool holds CUPTI");
  const auto process = node.WaitProcess(
      [](const v1::Process& one) { return one.state() == v1::PROCESS_STATE_REFUSED; });
  CHECK(process.refusal() == "another tool holds CUPTI");
  const auto captures = node.collector->ListCaptures();
  REQUIRE(captures.size() == 1);
  node.WaitState(captures[0].session_id(), v1::CAPTURE_STATE_FAILED);

  auto busy = node.Ask(Node::Request());
  const wire::Start start = library.TakeStart();
  library.Begin(start, node.clock.MonotonicNanos());
  REQUIRE(busy.get().ok());
  node.WaitProcess(
      [](const v1::Process& one) { return one.state() == v1::PROCESS_STATE_CAPTURING; });
}

TEST_CASE("a process that answers too late is told to stop and to let go") {
  Node node;
  node.options.times.start = Milliseconds(50);
  node.Start();
  ScriptedLibrary library = node.Register();
  auto asked = node.Ask(Node::Request());
  const wire::Start start = library.TakeStart();
  CHECK(absl::IsDeadlineExceeded(asked.get().status()));
  const std::string session_id = node.collector->ListCaptures()[0].session_id();
  node.WaitState(session_id, v1::CAPTURE_STATE_FAILED);
  library.Begin(start, node.clock.MonotonicNanos());
  library.peer().Expect<wire::Stop>(wire::MessageType::kStop);
  library.EndRing(wire::StopReason::kAsked, node.clock.MonotonicNanos());
  library.SayStopped();
  library.peer().Expect<wire::Release>(wire::MessageType::kRelease);
}

TEST_CASE("a process that ends while it is recorded leaves what it wrote") {
  Node node;
  node.Start();
  ScriptedLibrary library = node.Register();
  const std::string session_id = node.Record(library);
  library.WriteRanges(100, node.clock.MonotonicNanos());
  library.Disconnect();
  // Alone that it is not connected ends nothing.
  node.WaitStatus(session_id, [](const v1::CaptureStatus& status) {
    return status.safe_events() == 100 && status.state() == v1::CAPTURE_STATE_RECORDING;
  });
  node.proc.WriteStat(Node::Pid(), "python", 'Z', 500);
  const auto done = node.WaitState(session_id, v1::CAPTURE_STATE_DONE);
  CHECK(EventsOf(done) == 100);
  CHECK(done.message().find("the process ended while it was recorded") == 0);
  REQUIRE(done.losses_size() == 1);
  CHECK(node.store.SessionOf(session_id).ended());
}

TEST_CASE("a process that ends before it answers fails its capture") {
  Node node;
  node.Start();
  ScriptedLibrary library = node.Register();
  auto asked = node.Ask(Node::Request());
  library.TakeStart();
  node.proc.Remove(Node::Pid());
  library.Disconnect();
  CHECK(absl::IsUnavailable(asked.get().status()));
}

TEST_CASE("a library that says nothing at the end of its time is not waited for long") {
  Node node;
  node.Start();
  ScriptedLibrary library = node.Register();
  const std::string session_id = node.Record(library);
  library.WriteRanges(10, node.clock.MonotonicNanos());
  library.SayStopped();  // its ring says otherwise
  const auto done = node.WaitState(session_id, v1::CAPTURE_STATE_DONE);
  CHECK(done.message() == "the process did not say how its capture ended");
  CHECK(EventsOf(done) == 10);
}

TEST_CASE("a collector that starts anew takes over a ring that records, and loses nothing") {
  Node node;
  node.Start();
  ScriptedLibrary library = node.Register();
  auto request = Node::Request();
  (*request.mutable_labels())["team"] = "research";
  const std::string session_id = node.Record(library, request);
  library.WriteRanges(300, node.clock.MonotonicNanos());
  node.WaitStatus(session_id,
                  [](const v1::CaptureStatus& status) { return status.safe_events() == 300; });
  node.collector.reset();
  library.WriteRanges(40, node.clock.MonotonicNanos());

  node.Start();
  library.Reconnect(node.collector->socket());
  library.SayHello(wire::LibraryState::kRecording);
  const auto taken = node.WaitStatus(
      session_id, [](const v1::CaptureStatus& status) { return status.safe_events() == 40; });
  CHECK(taken.state() == v1::CAPTURE_STATE_RECORDING);
  CHECK(absl::IsAlreadyExists(node.collector->StartCapture(Node::Request()).status()));
  REQUIRE(node.collector->EndCapture(session_id).ok());
  library.peer().Expect<wire::Stop>(wire::MessageType::kStop);
  library.EndRing(wire::StopReason::kAsked, node.clock.MonotonicNanos());
  library.SayStopped();
  library.peer().Expect<wire::Release>(wire::MessageType::kRelease);
  node.WaitState(session_id, v1::CAPTURE_STATE_DONE);
  const auto stored = node.store.SessionOf(session_id);
  CHECK(stored.ended());
  CHECK(stored.labels().at("team") == "research");
  CHECK(stored.labels().count("capture.resumed") == 1);
  CHECK_FALSE(node.store.Taken(2, session_id).empty());
}

TEST_CASE("a ring that is held is drained, waiting for the store where only that knows") {
  Node node;
  node.Start();
  ScriptedLibrary library = node.Register();
  const std::string session_id = node.Record(library);
  node.collector.reset();
  library.WriteRanges(25, node.clock.MonotonicNanos());
  library.EndRing(wire::StopReason::kDeadline, node.clock.MonotonicNanos());

  node.store.Stop();
  node.Start();
  library.Reconnect(node.collector->socket());
  library.SayHello(wire::LibraryState::kHoldingRing);
  node.WaitState(session_id, v1::CAPTURE_STATE_DRAINING);
  node.store.Start();
  library.peer().Expect<wire::Release>(wire::MessageType::kRelease);
  const auto done = node.WaitState(session_id, v1::CAPTURE_STATE_DONE);
  CHECK(EventsOf(done) == 25);
  CHECK(done.message() == "its time was over");
}

TEST_CASE("a library whose connection was lost goes on where it was") {
  Node node;
  node.Start();
  ScriptedLibrary library = node.Register();
  const std::string session_id = node.Record(library);
  library.Disconnect();
  library.Reconnect(node.collector->socket());
  library.SayHello(wire::LibraryState::kRecording);
  node.WaitProcess(
      [](const v1::Process& one) { return one.state() == v1::PROCESS_STATE_CAPTURING; });
  library.WriteRanges(5, node.clock.MonotonicNanos());
  library.Disconnect();
  library.EndRing(wire::StopReason::kDeadline, node.clock.MonotonicNanos());
  library.Reconnect(node.collector->socket());
  library.SayHello(wire::LibraryState::kHoldingRing);
  library.peer().Expect<wire::Release>(wire::MessageType::kRelease);
  CHECK(EventsOf(node.WaitState(session_id, v1::CAPTURE_STATE_DONE)) == 5);
  // Whose release was lost: it is told again.
  library.Reconnect(node.collector->socket());
  library.SayHello(wire::LibraryState::kHoldingRing);
  library.peer().Expect<wire::Release>(wire::MessageType::kRelease);
}

TEST_CASE("while the store is away a capture goes to the spool, and from there to the store") {
  Node node;
  node.options.times.first_append = Milliseconds(20);
  node.Start();
  ScriptedLibrary library = node.Register();
  node.store.Stop();
  const std::string session_id = node.Record(library);
  library.WriteRanges(60, node.clock.MonotonicNanos());
  library.EndRing(wire::StopReason::kDeadline, node.clock.MonotonicNanos());
  library.SayStopped();
  // Safe in the spool: the process may go.
  library.peer().Expect<wire::Release>(wire::MessageType::kRelease);
  const auto spooled = node.WaitStatus(
      session_id, [](const v1::CaptureStatus& status) { return status.spooled_bytes() > 0; });
  CHECK(spooled.state() == v1::CAPTURE_STATE_DRAINING);
  node.store.Start();
  CHECK(node.WaitState(session_id, v1::CAPTURE_STATE_DONE).safe_events() == 60);
  CHECK(node.store.SessionOf(session_id).ended());
}

TEST_CASE("a store that refuses a capture fails it") {
  Node node;
  node.Start();
  ScriptedLibrary library = node.Register();
  const std::string session_id = node.Record(library);
  node.store.Do(FakeStore::Act::kRefuse);
  library.WriteRanges(5, node.clock.MonotonicNanos());
  library.peer().Expect<wire::Stop>(wire::MessageType::kStop);
  node.WaitState(session_id, v1::CAPTURE_STATE_FAILED);
  library.EndRing(wire::StopReason::kAsked, node.clock.MonotonicNanos());
  library.SayStopped();
  library.peer().Expect<wire::Release>(wire::MessageType::kRelease);
}

TEST_CASE("what is no ring of its session is not taken over") {
  Node node;
  node.Start();
  ScriptedLibrary library = node.Register();
  wire::Hello hello{};
  hello.state = static_cast<uint8_t>(wire::LibraryState::kRecording);
  hello.session[0] = 1;
  library.peer().Send(wire::MessageType::kHello, hello, STDIN_FILENO);
  const auto ring = *RingMemory::Create({.page_count = 4});
  library.peer().Send(wire::MessageType::kHello, hello, ring->descriptor());
  library.peer().Send(wire::MessageType::kHello, hello);
  // Of sessions that nobody knows.
  wire::Refused refused{};
  strcpy(refused.text, "unasked");
  library.peer().Send(wire::MessageType::kRefused, refused);
  node.WaitProcess([](const v1::Process& one) { return one.state() == v1::PROCESS_STATE_REFUSED; });
  CHECK(node.collector->ListCaptures().empty());
}

TEST_CASE("a capture of the file starts once its process's CUDA answers, and once alone") {
  Node node;
  node.options.static_captures = *ParseStaticCaptures(
      R"({"captures": [{"name": "other", "duration": "5s"},
                       {"name": "train.py", "duration": "7s", "labels": {"by": "file"}},
                       {"name": "python", "duration": "9s"}]})");
  node.Start();
  ScriptedLibrary library = node.Register();
  CHECK(node.collector->ListCaptures().empty());
  library.SendGpus();
  const wire::Start start = library.TakeStart();
  CHECK(start.duration_ns == 7'000'000'000);
  library.Begin(start, node.clock.MonotonicNanos());
  library.EndRing(wire::StopReason::kDeadline, node.clock.MonotonicNanos());
  library.SayStopped();
  library.peer().Expect<wire::Release>(wire::MessageType::kRelease);
  const auto captures = node.collector->ListCaptures();
  REQUIRE(captures.size() == 1);
  node.WaitState(captures[0].session_id(), v1::CAPTURE_STATE_DONE);
  CHECK(node.store.SessionOf(captures[0].session_id()).labels().at("by") == "file");

  // It says so again, as after a lost connection.
  library.SendGpus(2);
  node.WaitProcess([](const v1::Process& one) { return one.gpus_size() == 2; });
  library.SendGpus(3);
  node.WaitProcess([](const v1::Process& one) { return one.gpus_size() == 3; });
  CHECK(node.collector->ListCaptures().size() == 1);
}

TEST_CASE("a second collector of a socket is refused") {
  Node node;
  node.Start();
  CHECK(absl::IsAlreadyExists(Collector::Start(node.options, node.clock).status()));
  node.options.socket += "2";
  CHECK_FALSE(Collector::Start(node.options, node.clock).ok());  // the spool is taken
}

TEST_CASE("a watched capture is told at its interval, and at its end") {
  Node node;
  node.Start();
  ScriptedLibrary library = node.Register();
  CollectorService service(*node.collector);
  const auto server = rpc::Server::Start(
      {.listen = "unix:" + node.folder.path() + "/grpc", .services = {&service}});
  REQUIRE(server.ok());
  const auto stub = v1::CollectorService::NewStub(rpc::OpenChannel((*server)->address()));
  const std::string session_id = node.Record(library);

  grpc::ClientContext context;
  v1::WatchCaptureRequest request;
  request.set_session_id(session_id);
  request.mutable_interval()->set_nanos(50'000'000);
  const auto begin = std::chrono::steady_clock::now();
  const auto watch = stub->WatchCapture(&context, request);
  v1::WatchCaptureResponse response;
  for (int i = 0; i < 4; ++i) {
    REQUIRE(watch->Read(&response));
    CHECK(response.status().state() == v1::CAPTURE_STATE_RECORDING);
  }
  CHECK(std::chrono::steady_clock::now() - begin >= Milliseconds(150));
  library.EndRing(wire::StopReason::kDeadline, node.clock.MonotonicNanos());
  library.SayStopped();
  while (watch->Read(&response)) {
  }
  CHECK(response.status().state() == v1::CAPTURE_STATE_DONE);
  CHECK(watch->Finish().ok());

  grpc::ClientContext other;
  request.set_session_id("unknown");
  const auto nothing = stub->WatchCapture(&other, request);
  CHECK_FALSE(nothing->Read(&response));
  CHECK(nothing->Finish().error_code() == grpc::StatusCode::NOT_FOUND);
  (*server)->Shutdown(std::chrono::seconds(1));
}

}  // namespace nanolane::collector
