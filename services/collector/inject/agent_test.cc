#include "services/collector/inject/agent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "catch2/catch.hpp"
#include "services/collector/inject/clock.h"
#include "services/collector/inject/environment.h"
#include "services/collector/inject/ring_writer.h"
#include "services/collector/inject/testing/hand_collector.h"
#include "services/collector/ring/ring_memory.h"

namespace nanolane::inject {
namespace {

using collector::RingMemory;

constexpr int64_t kSecond = 1'000'000'000;

// An agent lives as long as its process: each case is a process, which begins with one. What it
// finds wrong fails there.
void InProcess(const std::function<void(HandCollector&)>& body) {
  const pid_t child = fork();
  if (child == 0) {
    int result = 0;
    try {
      ResetCaptureAfterFork();
      ResetThreadsAfterFork();
      HandCollector collector;
      setenv("NANOLANE_CUPTI", STAND_INS "/libcupti.so", 1);
      setenv("NANOLANE_PROJECT", "of the test", 1);
      CopyEnvironment();
      StartAgent();
      body(collector);
    } catch (...) {
      result = 1;
    }
    _exit(result);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

std::unique_ptr<RingMemory> NewRing() {
  return *RingMemory::Create({.page_count = 8, .facts_bytes = 1 << 16});
}

wire::Start StartOf(uint8_t session, int64_t duration_ns = 60 * kSecond) {
  wire::Start start{};
  memset(start.session, session, sizeof(start.session));
  start.duration_ns = duration_ns;
  start.kinds = wire::kAllKinds;
  return start;
}

template <typename Message>
Message Of(uint8_t session) {
  Message message{};
  memset(message.session, session, sizeof(message.session));
  return message;
}

template <typename Message>
void RequireSession(const Message& message, uint8_t session) {
  const Message expected = Of<Message>(session);
  REQUIRE(memcmp(message.session, expected.session, sizeof(message.session)) == 0);
}

wire::RingState StateOf(const RingMemory& ring) {
  return static_cast<wire::RingState>(ring.header().state.load());
}

wire::StopReason ReasonOf(const RingMemory& ring) {
  return static_cast<wire::StopReason>(ring.header().stop_reason.load());
}

HandPeer Greeted(HandCollector& collector, wire::LibraryState state) {
  HandPeer peer = collector.Accept();
  const auto hello = peer.Expect<wire::Hello>(wire::MessageType::kHello);
  REQUIRE(hello.state == static_cast<uint8_t>(state));
  return peer;
}

wire::Refused Refusal(const HandPeer& peer, uint8_t session, wire::RefusalCode code) {
  const auto refused = peer.Expect<wire::Refused>(wire::MessageType::kRefused);
  RequireSession(refused, session);
  REQUIRE(refused.code == static_cast<uint32_t>(code));
  return refused;
}

}  // namespace

TEST_CASE("the agent says hello") {
  InProcess([](HandCollector& collector) {
    const HandPeer peer = collector.Accept();
    const auto hello = peer.Expect<wire::Hello>(wire::MessageType::kHello);
    REQUIRE(hello.state == static_cast<uint8_t>(wire::LibraryState::kDormant));
    REQUIRE(hello.cupti_version == 0);
    REQUIRE(std::string(hello.project) == "of the test");
    REQUIRE(hello.library_version == 1);
  });
}

TEST_CASE("the agent starts a capture, stops it and lets go of its ring") {
  InProcess([](HandCollector& collector) {
    const HandPeer peer = Greeted(collector, wire::LibraryState::kDormant);
    const auto ring = NewRing();
    const int64_t before = MonotonicNs();
    peer.Send(wire::MessageType::kStart, StartOf(1), ring->descriptor());
    const auto started = peer.Expect<wire::Started>(wire::MessageType::kStarted);
    RequireSession(started, 1);
    REQUIRE(started.on_ns >= before);
    REQUIRE(started.setup_ns > 0);
    REQUIRE(started.cupti_version == 130101);
    REQUIRE((started.kinds & wire::kKindKernel) != 0);
    REQUIRE(StateOf(*ring) == wire::RingState::kRecording);
    REQUIRE(ring->header().on_ns.load() == started.on_ns);
    REQUIRE(ring->header().facts_used.load() > 0);  // clocks and notes

    // A second one is refused, and disturbs nothing.
    const auto second = NewRing();
    peer.Send(wire::MessageType::kStart, StartOf(2), second->descriptor());
    const auto refused = Refusal(peer, 2, wire::RefusalCode::kBusy);
    REQUIRE(std::string(refused.text) == "another capture of this process is running");
    REQUIRE(StateOf(*second) == wire::RingState::kFresh);
    // Neither a stop of another session nor a release while it runs.
    peer.Send(wire::MessageType::kStop, Of<wire::Stop>(9));
    peer.Send(wire::MessageType::kRelease, Of<wire::Release>(1));
    REQUIRE(StateOf(*ring) == wire::RingState::kRecording);

    peer.Send(wire::MessageType::kStop, Of<wire::Stop>(1));
    RequireSession(peer.Expect<wire::Stopped>(wire::MessageType::kStopped), 1);
    REQUIRE(StateOf(*ring) == wire::RingState::kStopped);
    REQUIRE(ReasonOf(*ring) == wire::StopReason::kAsked);
    REQUIRE(ring->header().off_ns.load() >= started.on_ns);
    peer.Send(wire::MessageType::kRelease, Of<wire::Release>(1));

    // And again, with the ring that was refused.
    peer.Send(wire::MessageType::kStart, StartOf(2), second->descriptor());
    RequireSession(peer.Expect<wire::Started>(wire::MessageType::kStarted), 2);
    peer.Send(wire::MessageType::kStop, Of<wire::Stop>(2));
    RequireSession(peer.Expect<wire::Stopped>(wire::MessageType::kStopped), 2);
  });
}

TEST_CASE("the agent refuses what is no ring, and durations that are none") {
  InProcess([](HandCollector& collector) {
    const HandPeer peer = Greeted(collector, wire::LibraryState::kDormant);
    peer.Send(wire::MessageType::kStart, StartOf(1));
    auto refused = Refusal(peer, 1, wire::RefusalCode::kBadRing);
    REQUIRE(std::string(refused.text) == "no ring came with the command");

    const int null = open("/dev/null", O_RDWR);
    peer.Send(wire::MessageType::kStart, StartOf(2), null);
    refused = Refusal(peer, 2, wire::RefusalCode::kBadRing);
    REQUIRE(std::string(refused.text) == "the ring's descriptor is no sealed memory");

    const int unsealed = memfd_create("test", 0);
    REQUIRE(ftruncate(unsealed, 1 << 20) == 0);
    peer.Send(wire::MessageType::kStart, StartOf(3), unsealed);
    Refusal(peer, 3, wire::RefusalCode::kBadRing);

    const auto ring = NewRing();
    for (const int64_t duration : {int64_t{0}, int64_t{-1}, wire::kLongestCaptureNs + 1}) {
      peer.Send(wire::MessageType::kStart, StartOf(4, duration), ring->descriptor());
      refused = Refusal(peer, 4, wire::RefusalCode::kBusy);
      REQUIRE(std::string(refused.text) == "a capture lasts at most 10 minutes");
    }
    peer.Send(wire::MessageType::kStart, StartOf(5, wire::kLongestCaptureNs), ring->descriptor());
    RequireSession(peer.Expect<wire::Started>(wire::MessageType::kStarted), 5);
  });
}

TEST_CASE("the agent ends a capture by itself when its time is over") {
  InProcess([](HandCollector& collector) {
    const HandPeer peer = Greeted(collector, wire::LibraryState::kDormant);
    const auto ring = NewRing();
    peer.Send(wire::MessageType::kStart, StartOf(1, kSecond / 20), ring->descriptor());
    const auto started = peer.Expect<wire::Started>(wire::MessageType::kStarted);
    RequireSession(peer.Expect<wire::Stopped>(wire::MessageType::kStopped), 1);
    REQUIRE(ReasonOf(*ring) == wire::StopReason::kDeadline);
    REQUIRE(ring->header().off_ns.load() >= started.on_ns + kSecond / 20);
  });
}

TEST_CASE("the agent comes back with its ring, recording and afterwards") {
  InProcess([](HandCollector& collector) {
    const auto ring = NewRing();
    {
      const HandPeer peer = Greeted(collector, wire::LibraryState::kDormant);
      peer.Send(wire::MessageType::kStart, StartOf(7), ring->descriptor());
      peer.Expect<wire::Started>(wire::MessageType::kStarted);
    }
    {
      const HandPeer peer = collector.Accept();
      int descriptor = -1;
      const auto hello = peer.Expect<wire::Hello>(wire::MessageType::kHello, &descriptor);
      RequireSession(hello, 7);
      REQUIRE(hello.state == static_cast<uint8_t>(wire::LibraryState::kRecording));
      REQUIRE(hello.cupti_version == 130101);
      const auto adopted = RingMemory::Adopt(descriptor);
      REQUIRE(adopted.ok());
      REQUIRE((*adopted)->header().on_ns.load() == ring->header().on_ns.load());
      peer.Send(wire::MessageType::kStop, Of<wire::Stop>(7));
      peer.Expect<wire::Stopped>(wire::MessageType::kStopped);
    }
    {
      const HandPeer peer = collector.Accept();
      int descriptor = -1;
      const auto hello = peer.Expect<wire::Hello>(wire::MessageType::kHello, &descriptor);
      RequireSession(hello, 7);
      REQUIRE(hello.state == static_cast<uint8_t>(wire::LibraryState::kHoldingRing));
      REQUIRE(descriptor >= 0);
      close(descriptor);
      peer.Send(wire::MessageType::kRelease, Of<wire::Release>(7));
    }
    const HandPeer peer = Greeted(collector, wire::LibraryState::kDormant);
  });
}

TEST_CASE("the agent holds a few rings that nobody has released, and takes no more") {
  InProcess([](HandCollector& collector) {
    const HandPeer peer = Greeted(collector, wire::LibraryState::kDormant);
    for (uint8_t session = 1; session <= 4; ++session) {
      const auto ring = NewRing();
      peer.Send(wire::MessageType::kStart, StartOf(session), ring->descriptor());
      peer.Expect<wire::Started>(wire::MessageType::kStarted);
      peer.Send(wire::MessageType::kStop, Of<wire::Stop>(session));
      peer.Expect<wire::Stopped>(wire::MessageType::kStopped);
    }
    const auto ring = NewRing();
    peer.Send(wire::MessageType::kStart, StartOf(5), ring->descriptor());
    const auto refused = Refusal(peer, 5, wire::RefusalCode::kBusy);
    REQUIRE(std::string(refused.text) ==
            "captures of this process before have not been delivered yet");
    peer.Send(wire::MessageType::kRelease, Of<wire::Release>(2));
    peer.Send(wire::MessageType::kStart, StartOf(5), ring->descriptor());
    RequireSession(peer.Expect<wire::Started>(wire::MessageType::kStarted), 5);
  });
}

TEST_CASE("the agent passes over messages that it does not know") {
  InProcess([](HandCollector& collector) {
    const HandPeer peer = Greeted(collector, wire::LibraryState::kDormant);
    const auto ring = NewRing();
    // Of no type that there is, of one that only it sends, and a start that is too short.
    peer.Send(static_cast<wire::MessageType>(99), Of<wire::Stop>(1), ring->descriptor());
    peer.Send(wire::MessageType::kStopped, Of<wire::Stopped>(1));
    peer.Send(wire::MessageType::kStart, Of<wire::Stop>(1), ring->descriptor());
    peer.Send(wire::MessageType::kStart, StartOf(1), ring->descriptor());
    RequireSession(peer.Expect<wire::Started>(wire::MessageType::kStarted), 1);
  });
}

TEST_CASE("the agent leaves a collector that breaks the frame, and comes back") {
  InProcess([](HandCollector& collector) {
    {
      const HandPeer peer = Greeted(collector, wire::LibraryState::kDormant);
      peer.SendRaw("not a message of this protocol");
      REQUIRE(peer.Receive().bytes.empty());
    }
    const HandPeer peer = Greeted(collector, wire::LibraryState::kDormant);
  });
}

TEST_CASE("the agent ends its capture before the process does") {
  InProcess([](HandCollector& collector) {
    const HandPeer peer = Greeted(collector, wire::LibraryState::kDormant);
    const auto ring = NewRing();
    peer.Send(wire::MessageType::kStart, StartOf(1), ring->descriptor());
    peer.Expect<wire::Started>(wire::MessageType::kStarted);
    EndAgentBeforeExit();
    REQUIRE(StateOf(*ring) == wire::RingState::kStopped);
    REQUIRE(ReasonOf(*ring) == wire::StopReason::kProcessExit);
    peer.Expect<wire::Stopped>(wire::MessageType::kStopped);
  });
}

TEST_CASE("where CUPTI cannot be loaded a capture is refused, with what to do") {
  InProcess([](HandCollector& collector) {
    const HandPeer peer = Greeted(collector, wire::LibraryState::kDormant);
    setenv("NANOLANE_CUPTI", "/nowhere/libcupti.so", 1);
    setenv("CUDA_HOME", "/nowhere", 1);
    // The agent's thread waits for a command now.
    CopyEnvironment();
    const auto ring = NewRing();
    peer.Send(wire::MessageType::kStart, StartOf(1), ring->descriptor());
    const HandMessage answer = peer.Receive();
    // A machine with CUPTI installed has one all the same.
    if (answer.type() == wire::MessageType::kStarted) return;
    const auto refused = answer.As<wire::Refused>();
    REQUIRE(refused.code == static_cast<uint32_t>(wire::RefusalCode::kNoCupti));
    REQUIRE(std::string(refused.text).find("NANOLANE_CUPTI") != std::string::npos);
    REQUIRE(StateOf(*ring) == wire::RingState::kFresh);
  });
}

TEST_CASE("a forked child has no agent, and can start its own") {
  InProcess([](HandCollector& collector) {
    const HandPeer peer = Greeted(collector, wire::LibraryState::kDormant);
    const pid_t child = fork();
    if (child == 0) {
      ResetCaptureAfterFork();
      ResetThreadsAfterFork();
      ResetAgentAfterFork();
      EndAgentBeforeExit();
      StartAgent();
      // Until the test has heard of it.
      pause();
    }
    {
      const HandPeer second = Greeted(collector, wire::LibraryState::kDormant);
      kill(child, SIGKILL);
      REQUIRE(waitpid(child, nullptr, 0) == child);
      REQUIRE(second.Receive().bytes.empty());
    }
    // The parent's goes on.
    const auto ring = NewRing();
    peer.Send(wire::MessageType::kStart, StartOf(1), ring->descriptor());
    peer.Expect<wire::Started>(wire::MessageType::kStarted);
  });
}

}  // namespace nanolane::inject
