// CUPTI as processes have it: none, broken, unknown, another tool's, of another version or clock.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "services/collector/inject/wire.h"
#include "tests/live_capture/support/rig.h"
#include "tests/live_capture/support/scripts.h"

namespace nanolane::testing {
namespace {

namespace v1 = nanolane::collector::v1;
namespace wire = inject::wire;
using trace::EventKind;

constexpr const char* kWork =
    "stream a\n"
    "say ready\n"
    "loop-until-file $DIR/stop\n"
    "  launch a _Z1kv n=3 ns=500\n"
    "  sync a\n"
    "  sleep us=500\n"
    "end\n"
    "exit 6\n";

TEST_CASE("a process whose CUPTI cannot be used refuses in words, is shown so, and is unharmed") {
  struct Case {
    std::map<std::string, std::string> environment;
    std::string text;
  };
  const Case cases[] = {
      {{{"SIM_CUPTI_VERSION", "140000"}}, "record layouts of CUPTI version 140000 are not known"},
      {{{"SIM_SUBSCRIBE_ERROR", "15"}}, "cuptiSubscribe failed: CUPTI_ERROR_NOT_INITIALIZED"},
      {{{"SIM_FOREIGN_SUBSCRIBER", "some profiler"}},
       "another tool holds CUPTI in this process: CUPTI for some profiler"},
      {{{"SIM_ENABLE_ERROR", "35"}},
       "CUPTI cannot be turned on: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
  };
  Rig rig;
  for (const Case& one : cases) {
    INFO(one.text);
    const auto process = rig.Run(kWork, one.environment);
    REQUIRE(process != nullptr);
    for (int i = 0; i < 2; ++i) {
      const auto session_id = rig.client().Start({.pid = process->pid()});
      CHECK(absl::IsFailedPrecondition(session_id.status()));
      CHECK(std::string(session_id.status().message()).find(one.text) == 0);
    }
    const auto shown = rig.client().GetProcess(process->pid());
    REQUIRE(shown.ok());
    CHECK(shown->state() == v1::PROCESS_STATE_REFUSED);
    CHECK(shown->refusal().find(one.text) == 0);
    process->Touch("stop");
    CHECK(process->Wait().code == 6);
  }
}

TEST_CASE("a process without any libcupti is told what to install") {
  if (std::filesystem::exists("/usr/local/cuda") || std::getenv("CUDA_HOME") != nullptr) {
    WARN("SKIPPED: this machine has a CUDA toolkit, whose CUPTI is found");
    return;
  }
  Rig rig;
  SimProcess process(
      {.socket = rig.socket(), .script = kWork, .program = SIM_PROGRAM_WITHOUT_CUPTI});
  REQUIRE(process.WaitSaid("ready"));
  REQUIRE(rig.client().WaitRegistered(process.pid()));
  const auto session_id = rig.client().Start({.pid = process.pid()});
  CHECK(absl::IsFailedPrecondition(session_id.status()));
  CHECK(std::string(session_id.status().message())
            .starts_with("no libcupti.so.13 or .12 can be loaded: install CUDA's CUPTI"));
  CHECK(rig.client().GetProcess(process.pid())->state() == v1::PROCESS_STATE_REFUSED);
  process.Touch("stop");
  CHECK(process.Wait().code == 6);
}

TEST_CASE("a libcupti without its functions is refused by the one that is missing") {
  Rig rig;
  // Any other library will do.
  const auto process =
      rig.Run(kWork, {{"NANOLANE_CUPTI", std::string(SIMULATED_GPU_FOLDER) + "/libcuda.so.1"}});
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  CHECK(absl::IsFailedPrecondition(session_id.status()));
  CHECK(std::string(session_id.status().message())
            .starts_with("the process's libcupti has no cuptiGetVersion"));
  process->Touch("stop");
  CHECK(process->Wait().code == 6);
}

TEST_CASE("layouts of CUPTI 12 are read as well as those of 13") {
  for (const char* version : {"18", "22", "26", "28", "130001", "130200"}) {
    INFO("version " << version);
    Rig rig;
    const auto process = rig.Run(BusyScript(kEverything), {{"SIM_CUPTI_VERSION", version}});
    REQUIRE(process != nullptr);
    const auto session_id = rig.client().Start({.pid = process->pid()});
    REQUIRE(session_id.ok());
    REQUIRE(
        rig.client()
            .WaitStatus(*session_id, [](const auto& status) { return status.safe_events() > 100; })
            .ok());
    const auto session = rig.client().Finish(*session_id);
    process->Touch("stop");
    CHECK(process->Wait().code == 0);
    REQUIRE(session.ok());
    CHECK(Compare(process->Truth(), *session, {.graphs = kGraphs}) == "");
    CHECK(session->Label("capture.cupti") == version);
  }
}

TEST_CASE("a version that is known to be faulty is recorded, and the fault is told") {
  Rig rig;
  const auto process = rig.Run(kWork, {{"SIM_CUPTI_VERSION", "130000"}});
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  REQUIRE(session_id.ok());
  const auto session = rig.client().Finish(*session_id);
  process->Touch("stop");
  CHECK(process->Wait().code == 6);
  REQUIRE(session.ok());
  CHECK(session->notes().find("CUPTI 13.0 gives no end to some synchronizations") !=
        std::string::npos);
}

TEST_CASE("times are right where another tool has given CUPTI a clock of its own") {
  Rig rig;
  const auto process = rig.Run(kWork, {{"SIM_FOREIGN_TICKS", "1"}});
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  REQUIRE(session_id.ok());
  REQUIRE(
      rig.client()
          .WaitStatus(*session_id, [](const auto& status) { return status.safe_events() > 500; })
          .ok());
  const auto session = rig.client().Finish(*session_id);
  process->Touch("stop");
  CHECK(process->Wait().code == 6);
  REQUIRE(session.ok());
  CHECK(session->notes().find("a clock of its own") != std::string::npos);
  std::map<uint64_t, Deed> launches;
  for (const Deed& deed : process->Truth()) launches[deed.correlation] = deed;
  // A kernel of the script begins right after its launch or behind the ones before it, a few
  // microseconds each.
  constexpr int64_t kErrorNs = 50'000;
  size_t kernels = 0;
  for (const RecordedEvent& recorded : session->events) {
    if (recorded.op->op.kind != EventKind::kKernel) continue;
    ++kernels;
    const Deed& deed = launches[recorded.event.correlation];
    REQUIRE(recorded.event.start_ns > deed.before_ns - kErrorNs);
    REQUIRE(recorded.event.start_ns < deed.after_ns + kErrorNs);
    REQUIRE(std::abs(recorded.event.duration_ns - 500) < kErrorNs);
  }
  CHECK(kernels > 100);
}

TEST_CASE("a first enabling that takes its time is waited for, and the process goes on meanwhile") {
  Rig rig;
  const auto process = rig.Run(kWork, {{"SIM_FIRST_ENABLE_MS", "700"}});
  REQUIRE(process != nullptr);
  const auto session_id = rig.client().Start({.pid = process->pid()});
  REQUIRE(session_id.ok());
  const auto session = rig.client().Finish(*session_id);
  process->Touch("stop");
  CHECK(process->Wait().code == 6);
  REQUIRE(session.ok());
  const auto truth = process->Truth();
  CHECK(Compare(truth, *session) == "");
  CHECK(std::count_if(truth.begin(), truth.end(), [&](const Deed& deed) {
          return deed.after_ns < session->on_ns() &&
                 deed.before_ns > session->on_ns() - 600'000'000;
        }) > 100);
}

TEST_CASE("CUPTI is not detached amid a wait, and captures are refused until it is over") {
  Rig rig;
  const auto process = rig.Run(
      "stream a\n"
      "say ready\n"
      "wait-file $DIR/go\n"
      "launch a _Z4longv ns=8500000000\n"
      "sync a\n"
      "say waited\n"
      "loop-until-file $DIR/stop\n"
      "  launch a _Z1kv n=3 ns=500\n"
      "  sync a\n"
      "  sleep us=500\n"
      "end\n");
  REQUIRE(process != nullptr);
  const auto first =
      rig.client().Start({.pid = process->pid(), .duration = std::chrono::milliseconds(200)});
  REQUIRE(first.ok());
  process->Touch("go");
  // The session does not wait for the kernel for longer than it says.
  REQUIRE(rig.client().WaitDone(*first).ok());
  const auto amid = rig.client().Start({.pid = process->pid()});
  CHECK_FALSE(amid.ok());
  CHECK(std::string(amid.status().message()).find("waits for its GPU") != std::string::npos);
  REQUIRE(process->WaitSaid("waited"));
  const auto after =
      rig.client().Start({.pid = process->pid(), .duration = std::chrono::milliseconds(200)});
  REQUIRE(after.ok());
  REQUIRE(rig.client().WaitDone(*after).ok());
  const auto session = rig.client().Read(*after);
  process->Touch("stop");
  CHECK(process->Wait().code == 0);
  REQUIRE(session.ok());
  CHECK(session->Losses() == "");
  CHECK(Compare(process->Truth(), *session) == "");
}

TEST_CASE("the collector takes no capture of more than ten minutes") {
  Rig rig;
  const auto process = rig.Run(kWork);
  REQUIRE(process != nullptr);
  for (const std::chrono::milliseconds duration :
       {std::chrono::milliseconds(600'001), std::chrono::milliseconds(0)}) {
    const auto session_id = rig.client().Start({.pid = process->pid(), .duration = duration});
    CHECK(absl::IsInvalidArgument(session_id.status()));
  }
  process->Touch("stop");
  CHECK(process->Wait().code == 6);
}

// A collector of one connection, by hand.
class Listener {
 public:
  Listener() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path().c_str());
    listening_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(listening_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(::listen(listening_, 1) == 0);
  }
  ~Listener() {
    ::close(connection_);
    ::close(listening_);
  }

  std::string path() const { return folder_.path() + "/collector.sock"; }
  void Accept() { connection_ = ::accept(listening_, nullptr, nullptr); }

  // Messages up to the first of that type.
  template <typename Message>
  Message Wait(wire::MessageType type) {
    alignas(8) char bytes[wire::kMaxMessageBytes];
    for (;;) {
      const ssize_t got = ::recv(connection_, bytes, sizeof(bytes), 0);
      REQUIRE(got > 0);
      wire::MessageHeader header;
      std::memcpy(&header, bytes, sizeof(header));
      if (header.type != static_cast<uint16_t>(type)) continue;
      Message message;
      REQUIRE(static_cast<size_t>(got) == sizeof(message));
      std::memcpy(&message, bytes, sizeof(message));
      return message;
    }
  }

  void SendStart(wire::Start start, int ring) {
    start.header = {.magic = wire::kMagic,
                    .protocol = wire::kProtocol,
                    .type = static_cast<uint16_t>(wire::MessageType::kStart),
                    .size = sizeof(start)};
    iovec part = {.iov_base = &start, .iov_len = sizeof(start)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr parts{};
    parts.msg_iov = &part;
    parts.msg_iovlen = 1;
    if (ring >= 0) {
      parts.msg_control = control;
      parts.msg_controllen = sizeof(control);
      cmsghdr* rights = CMSG_FIRSTHDR(&parts);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(rights), &ring, sizeof(int));
    }
    REQUIRE(::sendmsg(connection_, &parts, 0) == static_cast<ssize_t>(sizeof(start)));
  }

 private:
  TempFolder folder_;
  int listening_ = -1;
  int connection_ = -1;
};

TEST_CASE(
    "the library itself takes no capture of more than ten minutes, and no ring that is none") {
  Listener listener;
  SimProcess process({.socket = listener.path(), .script = kWork});
  listener.Accept();
  const auto hello = listener.Wait<wire::Hello>(wire::MessageType::kHello);
  CHECK(hello.state == static_cast<uint8_t>(wire::LibraryState::kDormant));
  const int memory = ::memfd_create("no ring", MFD_CLOEXEC);
  REQUIRE(::ftruncate(memory, 1 << 20) == 0);
  const auto refused = [&](int64_t duration_ns, int ring) {
    listener.SendStart({.duration_ns = duration_ns, .kinds = wire::kAllKinds}, ring);
    return std::string(listener.Wait<wire::Refused>(wire::MessageType::kRefused).text);
  };
  CHECK(refused(wire::kLongestCaptureNs + 1, memory) == "a capture lasts at most 10 minutes");
  CHECK(refused(0, memory) == "a capture lasts at most 10 minutes");
  CHECK(refused(1'000'000, memory) == "the ring's descriptor is no sealed memory");
  CHECK(refused(1'000'000, -1) == "no ring came with the command");
  ::close(memory);
  process.Touch("stop");
  CHECK(process.Wait().code == 6);
}

}  // namespace
}  // namespace nanolane::testing
