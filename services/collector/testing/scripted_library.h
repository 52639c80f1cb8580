// The injection library by hand, for tests of the collector: says what a test tells it to say, and
// writes into the ring that it was given. It passes for this process.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "catch2/catch.hpp"
#include "services/collector/inject/testing/hand_collector.h"
#include "services/collector/ring/ring_memory.h"
#include "services/collector/ring/testing/ring_writer.h"

namespace nanolane::collector {

using inject::HandMessage;
using inject::HandPeer;

inline HandPeer DialCollector(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof(address.sun_path));
  strcpy(address.sun_path, path.c_str());
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  REQUIRE(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  return HandPeer(fd);
}

class ScriptedLibrary {
 public:
  // Connects and says hello, as one that records nothing.
  explicit ScriptedLibrary(const std::string& path) : peer_(DialCollector(path)) {
    SayHello(wire::LibraryState::kDormant);
  }

  void SayHello(wire::LibraryState state) {
    wire::Hello hello{};
    hello.library_version = 1;
    hello.state = static_cast<uint8_t>(state);
    strcpy(hello.project, "hand");
    if (ring_ != nullptr) std::copy_n(ring_->session().data(), 16, hello.session);
    peer_.Send(wire::MessageType::kHello, hello,
               state == wire::LibraryState::kDormant ? -1 : ring_->descriptor());
  }
  void SendGpus(uint32_t count = 1) {
    wire::Gpus gpus{};
    gpus.count = count;
    for (uint32_t i = 0; i < count && i < wire::kMaxGpus; ++i) {
      gpus.gpus[i].index = static_cast<int32_t>(i);
      gpus.gpus[i].memory_bytes = 80'000'000'000;
      strcpy(gpus.gpus[i].name, "H200");
    }
    peer_.Send(wire::MessageType::kGpus, gpus);
  }

  // The command to start; keeps its ring.
  wire::Start TakeStart() {
    HandMessage message = peer_.Receive();
    // A ring may be released twice: by its end, and where that was told after it was known.
    while (message.type() == wire::MessageType::kRelease) message = peer_.Receive();
    REQUIRE(message.type() == wire::MessageType::kStart);
    const auto start = message.As<wire::Start>();
    ring_ = *RingMemory::Adopt(message.descriptor);
    writer_.emplace(*ring_);
    REQUIRE(memcmp(start.session, ring_->session().data(), sizeof(start.session)) == 0);
    return start;
  }
  void Begin(const wire::Start& start, int64_t on_ns) {
    wire::RingHeader& header = ring_->header();
    header.on_ns.store(on_ns);
    header.kinds_on.store(start.kinds);
    header.cupti_version.store(130101);
    header.state.store(static_cast<uint32_t>(wire::RingState::kRecording));
    wire::Started started{};
    std::copy_n(start.session, sizeof(start.session), started.session);
    started.on_ns = on_ns;
    started.kinds = start.kinds;
    started.cupti_version = 130101;
    peer_.Send(wire::MessageType::kStarted, started);
  }
  void Refuse(const wire::Start& start, wire::RefusalCode code, const char* why) {
    wire::Refused refused{};
    std::copy_n(start.session, sizeof(start.session), refused.session);
    refused.code = static_cast<uint32_t>(code);
    strcpy(refused.text, why);
    peer_.Send(wire::MessageType::kRefused, refused);
  }
  void WriteRanges(int count, int64_t start_ns) {
    for (int i = 0; i < count; ++i) {
      wire::NvtxRecord range{};
      range.start_ns = start_ns + i;
      range.duration_ns = 1;
      range.thread = 7;
      REQUIRE(writer_->Write(7, range));
    }
    ring_->header().produced[4].fetch_add(static_cast<uint64_t>(count));
  }
  // The ring first, then the word.
  void EndRing(wire::StopReason reason, int64_t off_ns) {
    ring_->header().off_ns.store(off_ns);
    ring_->header().stop_reason.store(static_cast<uint32_t>(reason));
    writer_->Stop();
  }
  void SayStopped() {
    wire::Stopped stopped{};
    std::copy_n(ring_->session().data(), 16, stopped.session);
    peer_.Send(wire::MessageType::kStopped, stopped);
  }

  void Reconnect(const std::string& path) { peer_ = DialCollector(path); }
  void Disconnect() { peer_.Close(); }

  HandPeer& peer() { return peer_; }
  RingMemory& ring() { return *ring_; }

 private:
  HandPeer peer_;
  std::unique_ptr<RingMemory> ring_;
  std::optional<RingWriter> writer_;
};

}  // namespace nanolane::collector
