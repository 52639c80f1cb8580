// What processes say to the collector, and what it answers.
#include <algorithm>
#include <cstring>
#include <utility>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/collector/collector.h"
#include "services/collector/session/clean_text.h"

namespace nanolane::collector {
namespace {

using nanolane::trace::v1::Session;

constexpr uint32_t kMostRingsHeld = 4;
constexpr uint64_t kMostEpochs = uint64_t{1} << 32;

bool IsSame(const ProcessFacts& a, const ProcessFacts& b) {
  return a.pid == b.pid && a.start_ticks == b.start_ticks && a.uid == b.uid;
}

template <typename Message>
bool Is(wire::MessageType type, uint16_t got, size_t bytes) {
  return got == static_cast<uint16_t>(type) && bytes == sizeof(Message);
}

template <typename Message>
Message Copy(const std::byte* bytes) {
  Message message;
  std::memcpy(&message, bytes, sizeof(message));
  return message;
}

}  // namespace

void Collector::OnMessage(ConnectionId connection, const std::byte* message, size_t bytes,
                          int descriptor) {
  const uint16_t type = Copy<wire::MessageHeader>(message).type;
  if (Is<wire::Hello>(wire::MessageType::kHello, type, bytes)) {
    TakeHello(connection, Copy<wire::Hello>(message), descriptor);
    return;
  }
  if (descriptor >= 0) close(descriptor);
  if (Is<wire::Gpus>(wire::MessageType::kGpus, type, bytes)) {
    TakeGpus(connection, Copy<wire::Gpus>(message));
  } else if (Is<wire::Started>(wire::MessageType::kStarted, type, bytes)) {
    const auto started = Copy<wire::Started>(message);
    std::shared_ptr<CaptureRun> run;
    {
      base::MutexLock lock(mutex_);
      run = FindRun(connection, started.session);
      if (const auto found = entries_.find(connection); found != entries_.end()) {
        found->second.refusal.clear();
        found->second.cupti_version = started.cupti_version;
      }
    }
    if (run != nullptr && !run->ended()) {
      run->OnStarted(started);
    } else {
      // Too late: nobody takes what it would record.
      SendStop(connection, started.session);
    }
  } else if (Is<wire::Refused>(wire::MessageType::kRefused, type, bytes)) {
    TakeRefused(connection, Copy<wire::Refused>(message));
  } else if (Is<wire::Stopped>(wire::MessageType::kStopped, type, bytes)) {
    const auto stopped = Copy<wire::Stopped>(message);
    std::shared_ptr<CaptureRun> run;
    {
      base::MutexLock lock(mutex_);
      run = FindRun(connection, stopped.session);
    }
    if (run != nullptr && !run->ended()) {
      run->OnStopped();
    } else {
      SendRelease(connection, stopped.session);
    }
  }
}

void Collector::TakeHello(ConnectionId connection, const wire::Hello& hello, int descriptor) {
  uint64_t pid = 0;
  {
    base::MutexLock lock(mutex_);
    const auto found = entries_.find(connection);
    if (found != entries_.end()) {
      const std::string project = FieldText(hello.project, sizeof(hello.project));
      if (!project.empty()) found->second.project = project;
      found->second.cupti_version = hello.cupti_version;
      found->second.said_hello = true;
      pid = found->second.facts.pid;
    }
  }
  if (hello.state == static_cast<uint8_t>(wire::LibraryState::kDormant) || descriptor < 0) {
    if (descriptor >= 0) close(descriptor);
    left_captures_->HoldsNothing(pid);
    return;
  }
  AdoptRing(connection, hello, descriptor);
}

// The library has a ring: of a capture of this collector whose connection was lost, or of one
// before it.
void Collector::AdoptRing(ConnectionId connection, const wire::Hello& hello, int descriptor) {
  const bool recording = hello.state == static_cast<uint8_t>(wire::LibraryState::kRecording);
  const std::string session_id = HexText(hello.session, sizeof(hello.session));
  {
    base::MutexLock lock(mutex_);
    const auto known = runs_.find(session_id);
    if (known != runs_.end()) {
      close(descriptor);
      const auto offering = entries_.find(connection);
      if (offering == entries_.end() || !IsSame(offering->second.facts, known->second.facts)) {
        base::LogWarning("collector", base::StrCat("another process offers session ", session_id,
                                                   " of process ", known->second.facts.pid));
        return;
      }
      known->second.connection = connection;
      const std::shared_ptr<CaptureRun> run = known->second.run;
      if (run == nullptr || known->second.run->ended()) {
        // Its end was told to a connection that had gone.
        recording ? SendStop(connection, hello.session) : SendRelease(connection, hello.session);
        return;
      }
      if (const auto entry = entries_.find(connection); entry != entries_.end() && recording) {
        entry->second.run = run;
      }
      if (!recording) run->OnStopped();
      return;
    }
  }
  absl::StatusOr<std::unique_ptr<RingMemory>> ring = RingMemory::Adopt(descriptor);
  if (!ring.ok() ||
      std::memcmp((*ring)->session().data(), hello.session, sizeof(hello.session)) != 0) {
    base::LogWarning("collector",
                     base::StrCat("a process hands over what is no ring of its session: ",
                                  ring.status().message()));
    return;
  }
  // No process gets a ring larger than this collector makes, or more of them than a library holds.
  if ((*ring)->page_count() > options_.ring_pages ||
      (*ring)->facts_bytes() > wire::kDefaultFactsBytes) {
    base::LogWarning("collector", "a process hands over a ring of another size than it was given");
    return;
  }
  base::MutexLock lock(mutex_);
  const auto entry = entries_.find(connection);
  if (entry == entries_.end() || entry->second.adopted >= kMostRingsHeld) return;
  ++entry->second.adopted;
  Session session = SessionOf(entry->second, session_id);
  if (const auto begun = left_captures_->TakeOver(session_id)) {
    session.set_project(begun->project());
    session.set_rule_id(begun->rule_id());
    *session.mutable_labels() = begun->labels();
  }
  RunOptions options = OptionsFor(session, entry->second.facts.start_ticks, (*ring)->duration_ns());
  options.old_epoch = std::clamp<uint64_t>(
      (*ring)->header().writer_epoch.load(std::memory_order_relaxed), 1, kMostEpochs);
  options.was_recording = recording;
  base::LogInfo("collector", base::StrCat("capture ", session_id, " of process ",
                                          entry->second.facts.pid, " is taken over"));
  auto run = std::make_shared<CaptureRun>(std::move(options), *std::move(ring));
  if (recording) entry->second.run = run;
  runs_[session_id] = {.run = run,
                       .facts = entry->second.facts,
                       .connection = connection,
                       .last_status = {},
                       .ended_ns = 0};
}

void Collector::TakeGpus(ConnectionId connection, const wire::Gpus& gpus) {
  ProcessFacts facts;
  {
    base::MutexLock lock(mutex_);
    const auto found = entries_.find(connection);
    if (found == entries_.end()) return;
    found->second.gpus.clear();
    for (uint32_t i = 0; i < gpus.count && i < wire::kMaxGpus; ++i) {
      nanolane::trace::v1::Gpu& gpu = found->second.gpus.emplace_back();
      gpu.set_index(gpus.gpus[i].index);
      gpu.set_uuid(UuidText(gpus.gpus[i].uuid));
      gpu.set_name(FieldText(gpus.gpus[i].name, sizeof(gpus.gpus[i].name)));
      gpu.set_memory_bytes(gpus.gpus[i].memory_bytes);
    }
    facts = found->second.facts;
  }
  StartStaticCaptures(facts);
}

void Collector::TakeRefused(ConnectionId connection, const wire::Refused& refused) {
  const std::string why = FieldText(refused.text, sizeof(refused.text));
  std::shared_ptr<CaptureRun> run;
  {
    base::MutexLock lock(mutex_);
    run = FindRun(connection, refused.session);
    const auto found = entries_.find(connection);
    if (found != entries_.end()) {
      // "Busy" is the capture that runs, not the process.
      if (refused.code != static_cast<uint32_t>(wire::RefusalCode::kBusy)) {
        found->second.refusal = why;
      }
      if (found->second.run == run) found->second.run = nullptr;
    }
  }
  if (run != nullptr) run->OnRefused(why);
}

// Only for the process whose capture it is.
std::shared_ptr<CaptureRun> Collector::FindRun(ConnectionId connection,
                                               const wire::SessionKey& session) const {
  const auto found = runs_.find(HexText(session, sizeof(session)));
  const bool is_own = found != runs_.end() && found->second.connection == connection;
  return is_own ? found->second.run : nullptr;
}

void Collector::SendStop(ConnectionId connection, const wire::SessionKey& session) {
  wire::Stop stop{};
  std::memcpy(stop.session, session, sizeof(stop.session));
  control_->Send(connection, wire::MessageType::kStop, stop).IgnoreError();
}

void Collector::SendRelease(ConnectionId connection, const wire::SessionKey& session) {
  wire::Release release{};
  std::memcpy(release.session, session, sizeof(release.session));
  control_->Send(connection, wire::MessageType::kRelease, release).IgnoreError();
}

}  // namespace nanolane::collector
