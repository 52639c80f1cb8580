#include "services/collector/collector.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <utility>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/str_cat.h"
#include "services/collector/capture_kinds.h"
#include "services/collector/session/clean_text.h"

namespace nanolane::collector {
namespace {

using nanolane::trace::v1::Session;

// Beyond what the run itself waits for.
constexpr std::chrono::seconds kMorePatience(5);
constexpr size_t kManySeen = 1'000;
constexpr int64_t kKeepEndedNs = int64_t{3'600} * 1'000'000'000;
constexpr size_t kKeepEnded = 1'000;

SessionKeyBytes NewKey() {
  std::random_device random;
  SessionKeyBytes key{};
  for (size_t i = 0; i < key.size(); i += 4) {
    const uint32_t word = random();
    std::memcpy(&key[i], &word, sizeof(word));
  }
  return key;
}

void CopyKey(const std::string& session_id, wire::SessionKey& key) {
  for (size_t i = 0; i < sizeof(key); ++i) {
    key[i] = static_cast<uint8_t>(std::stoul(session_id.substr(i * 2, 2), nullptr, 16));
  }
}

// A socket for each process and a ring for each capture.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Collector::Collector(const CollectorOptions& options, const base::Clock& clock)
    : options_(options), clock_(clock), host_(HostName()), delivery_([&options] {
        DeliveryOptions delivery = options.delivery;
        delivery.store = options.store;
        return delivery;
      }()) {}

absl::StatusOr<std::unique_ptr<Collector>> Collector::Start(const CollectorOptions& options,
                                                            const base::Clock& clock) {
  RaiseDescriptorLimit();
  std::unique_ptr<Collector> collector(new Collector(options, clock));
  ASSIGN_OR_RETURN(collector->control_, ControlServer::Listen(options.socket));
  ASSIGN_OR_RETURN(collector->spool_,
                   Spool::Open({.folder = options.spool_folder, .bytes = options.spool_bytes}));
  collector->replay_ = std::make_unique<SpoolReplay>(*collector->spool_, collector->delivery_);
  collector->journal_ = std::make_unique<CaptureJournal>(options.spool_folder);
  collector->left_captures_ = std::make_unique<LeftCaptures>(
      *collector->journal_, *collector->spool_,
      LeftCaptures::Options{.proc = options.proc, .store = options.store});
  RETURN_IF_ERROR(collector->control_->Start(*collector));
  return collector;
}

Collector::~Collector() {
  if (control_ != nullptr) control_->Stop();
  std::map<std::string, Run> runs;
  std::map<ConnectionId, Entry> entries;
  {
    base::MutexLock lock(mutex_);
    runs.swap(runs_);
    entries.swap(entries_);
  }
  // Their threads end here, outside the lock that they take.
  entries.clear();
  runs.clear();
}

// Processes --------------------------------------------------------------------------------------

void Collector::OnConnected(ConnectionId connection, const Peer& peer) {
  absl::StatusOr<ProcessFacts> facts = ReadProcessFacts(options_.proc, peer.pid);
  Entry entry;
  if (facts.ok()) {
    entry.facts = *std::move(facts);
  } else {
    entry.facts.pid = peer.pid;
    entry.facts.uid = peer.uid;
  }
  entry.project = options_.project;
  base::MutexLock lock(mutex_);
  entries_[connection] = std::move(entry);
}

void Collector::OnClosed(ConnectionId connection) {
  base::MutexLock lock(mutex_);
  entries_.erase(connection);
  for (auto& [session_id, run] : runs_) {
    if (run.connection == connection) run.connection = 0;
  }
}

void Collector::OnTick() {
  std::vector<std::shared_ptr<CaptureRun>> gone;
  std::vector<std::shared_ptr<CaptureRun>> over;
  {
    base::MutexLock lock(mutex_);
    const int64_t now = clock_.MonotonicNanos();
    for (auto it = runs_.begin(); it != runs_.end();) {
      Run& run = it->second;
      if (run.run != nullptr && run.connection == 0 && !IsAlive(options_.proc, run.facts)) {
        gone.push_back(run.run);
      }
      if (run.run != nullptr && run.run->ended()) {
        run.last_status = run.run->status();
        run.ended_ns = now;
        for (auto& [connection, entry] : entries_) {
          if (entry.run == run.run) entry.run = nullptr;
        }
        over.push_back(std::move(run.run));
      }
      const bool forget = run.run == nullptr && run.ended_ns != 0 &&
                          (now - run.ended_ns > kKeepEndedNs || runs_.size() > kKeepEnded);
      it = forget ? runs_.erase(it) : std::next(it);
    }
  }
  for (const auto& run : gone) run->OnProcessGone();
}

bool Collector::IsFirstSight(const ProcessFacts& facts) {
  base::MutexLock lock(mutex_);
  if (seen_.size() >= kManySeen) {
    for (auto it = seen_.begin(); it != seen_.end();) {
      it = IsAlive(options_.proc, it->second) ? std::next(it) : seen_.erase(it);
    }
  }
  return seen_.try_emplace({facts.pid, facts.start_ticks}, facts).second;
}

void Collector::StartStaticCaptures(const ProcessFacts& facts) {
  if (options_.static_captures.empty() || !IsFirstSight(facts)) return;
  for (const StaticCapture& capture : options_.static_captures) {
    if (!Matches(capture, facts)) continue;
    v1::StartCaptureRequest request = capture.request;
    request.set_pid(facts.pid);
    const absl::StatusOr<uint32_t> kinds = KindBits(request.kinds());
    const int64_t duration_ns =
        request.duration().seconds() * 1'000'000'000 + request.duration().nanos();
    const auto run = kinds.ok() ? BeginRun(request, *kinds, duration_ns) : kinds.status();
    if (!run.ok()) {
      base::LogWarning("collector",
                       base::StrCat("the file's capture \"", capture.name, "\" of process ",
                                    facts.pid, ": ", run.status().message()));
    }
    // One capture at a time: the first that matches.
    return;
  }
}

v1::Process Collector::ProcessOf(const Entry& entry) const {
  v1::Process process;
  process.set_pid(entry.facts.pid);
  process.set_executable(entry.facts.executable);
  for (const std::string& argument : entry.facts.command_line) process.add_command_line(argument);
  process.set_user(entry.facts.user);
  process.set_container_id(entry.facts.container_id);
  process.set_pod_uid(entry.facts.pod_uid);
  for (const auto& gpu : entry.gpus) *process.add_gpus() = gpu;
  process.set_project(entry.project);
  process.set_cupti_version(entry.cupti_version);
  process.mutable_start_time()->set_seconds(entry.facts.start_unix_ns / 1'000'000'000);
  process.mutable_start_time()->set_nanos(
      static_cast<int32_t>(entry.facts.start_unix_ns % 1'000'000'000));
  process.set_state(v1::PROCESS_STATE_READY);
  if (!entry.refusal.empty()) {
    process.set_state(v1::PROCESS_STATE_REFUSED);
    process.set_refusal(entry.refusal);
  }
  if (entry.run != nullptr) {
    const v1::CaptureState state = entry.run->status().state();
    if (state == v1::CAPTURE_STATE_STARTING || state == v1::CAPTURE_STATE_RECORDING) {
      process.set_state(v1::PROCESS_STATE_CAPTURING);
      process.set_session_id(entry.run->session_id());
    }
  }
  return process;
}

std::vector<v1::Process> Collector::ListProcesses() const {
  std::map<uint64_t, v1::Process> by_pid;
  {
    base::MutexLock lock(mutex_);
    for (const auto& [connection, entry] : entries_) {
      if (entry.said_hello) by_pid[entry.facts.pid] = ProcessOf(entry);
    }
  }
  std::vector<v1::Process> processes;
  for (auto& [pid, process] : by_pid) processes.push_back(std::move(process));
  return processes;
}

// Captures ---------------------------------------------------------------------------------------

Session Collector::SessionOf(const Entry& entry, const std::string& session_id) const {
  Session session;
  session.set_session_id(session_id);
  session.set_project(entry.project);
  session.set_host(host_);
  session.set_pid(entry.facts.pid);
  session.set_executable(entry.facts.executable);
  for (const std::string& argument : entry.facts.command_line) session.add_command_line(argument);
  session.set_container_id(entry.facts.container_id);
  session.set_pod_uid(entry.facts.pod_uid);
  for (const auto& gpu : entry.gpus) *session.add_gpus() = gpu;
  session.set_source("capture");
  return session;
}

RunOptions Collector::OptionsFor(const Session& session, uint64_t start_ticks,
                                 int64_t duration_ns) {
  const std::string session_id = session.session_id();
  RunOptions options;
  options.clock = &clock_;
  options.spool = spool_.get();
  options.delivery = delivery_;
  options.session = session;
  options.duration_ns = duration_ns;
  options.times = options_.times;
  options.ask_to_stop = [this, session_id] {
    wire::Stop stop{};
    CopyKey(session_id, stop.session);
    control_->Send(ConnectionOf(session_id), wire::MessageType::kStop, stop).IgnoreError();
  };
  options.release = [this, session_id] {
    wire::Release release{};
    CopyKey(session_id, release.session);
    control_->Send(ConnectionOf(session_id), wire::MessageType::kRelease, release).IgnoreError();
  };
  options.remember = [this, start_ticks](const Session& asked, bool has_begun) {
    const absl::Status written =
        journal_->Write({.session = asked, .start_ticks = start_ticks, .has_begun = has_begun});
    if (!written.ok()) base::LogWarning("collector", std::string(written.message()));
  };
  options.forget = [this, session_id] { journal_->Remove(session_id); };
  return options;
}

absl::StatusOr<std::shared_ptr<CaptureRun>> Collector::BeginRun(
    const v1::StartCaptureRequest& request, uint32_t kinds, int64_t duration_ns) {
  const SessionKeyBytes key = NewKey();
  const std::string session_id = HexText(key.data(), key.size());
  // Outlives the lock: a run that ends with it takes the lock itself.
  std::shared_ptr<CaptureRun> before;
  ASSIGN_OR_RETURN(std::unique_ptr<RingMemory> ring,
                   RingMemory::Create({.page_count = options_.ring_pages,
                                       .kinds = kinds,
                                       .session = key,
                                       .duration_ns = duration_ns,
                                       .writer_epoch = 1}));
  base::MutexLock lock(mutex_);
  Entry* entry = nullptr;
  ConnectionId connection = 0;
  for (auto& [id, candidate] : entries_) {
    if (candidate.said_hello && candidate.facts.pid == request.pid()) {
      entry = &candidate;
      connection = id;
    }
  }
  if (entry == nullptr) {
    return absl::NotFoundError(base::StrCat(
        "no process ", request.pid(), " has registered; start it with \"nanolane run -- CMD\""));
  }
  if (entry->run != nullptr && !entry->run->ended() &&
      entry->run->status().state() != v1::CAPTURE_STATE_DRAINING) {
    return absl::AlreadyExistsError(base::StrCat(
        "process ", request.pid(), " is being captured into session ", entry->run->session_id()));
  }
  Session session = SessionOf(*entry, session_id);
  if (!request.project().empty()) session.set_project(request.project());
  session.set_rule_id(request.rule_id());
  for (const auto& [name, value] : request.labels()) (*session.mutable_labels())[name] = value;
  wire::Start start{};
  std::memcpy(start.session, key.data(), key.size());
  start.duration_ns = duration_ns;
  start.kinds = kinds;
  RunOptions options = OptionsFor(session, entry->facts.start_ticks, duration_ns);
  options.ask_to_start = [this, connection, start](int ring_descriptor) {
    return control_->Send(connection, wire::MessageType::kStart, start, ring_descriptor);
  };
  auto run = std::make_shared<CaptureRun>(std::move(options), std::move(ring));
  runs_[session_id] = {.run = run,
                       .facts = entry->facts,
                       .connection = connection,
                       .last_status = {},
                       .ended_ns = 0};
  before = std::exchange(entry->run, run);
  return run;
}

absl::StatusOr<v1::StartCaptureResponse> Collector::StartCapture(
    const v1::StartCaptureRequest& request) {
  ASSIGN_OR_RETURN(const uint32_t kinds, KindBits(request.kinds()));
  const bool fits = request.duration().seconds() >= 0 && request.duration().seconds() <= 600 &&
                    request.duration().nanos() >= 0;
  const int64_t duration_ns =
      fits ? request.duration().seconds() * 1'000'000'000 + request.duration().nanos() : 0;
  if (duration_ns <= 0 || duration_ns > wire::kLongestCaptureNs) {
    return absl::InvalidArgumentError("a capture lasts more than 0 and at most 10 minutes");
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<CaptureRun> run, BeginRun(request, kinds, duration_ns));
  RETURN_IF_ERROR(run->WaitStarted(options_.times.start + kMorePatience));
  const v1::CaptureStatus status = run->status();
  v1::StartCaptureResponse response;
  response.set_session_id(run->session_id());
  for (const v1::CaptureKind kind : KindsOf(run->kinds_on())) response.add_kinds(kind);
  *response.mutable_notes() = status.notes();
  return response;
}

absl::Status Collector::EndCapture(const std::string& session_id) {
  std::shared_ptr<CaptureRun> run;
  {
    base::MutexLock lock(mutex_);
    const auto found = runs_.find(session_id);
    if (found == runs_.end()) {
      return absl::NotFoundError(base::StrCat("no capture ", session_id, " here"));
    }
    run = found->second.run;
  }
  if (run != nullptr) run->AskToStop();
  return absl::OkStatus();
}

std::vector<v1::CaptureStatus> Collector::ListCaptures() const {
  std::vector<v1::CaptureStatus> captures;
  {
    base::MutexLock lock(mutex_);
    for (const auto& [session_id, run] : runs_) {
      captures.push_back(run.run != nullptr ? run.run->status() : run.last_status);
    }
  }
  std::stable_sort(captures.begin(), captures.end(), [](const auto& a, const auto& b) {
    return std::make_pair(a.start_time().seconds(), a.start_time().nanos()) >
           std::make_pair(b.start_time().seconds(), b.start_time().nanos());
  });
  return captures;
}

absl::StatusOr<v1::CaptureStatus> Collector::WaitCapture(const std::string& session_id,
                                                         uint64_t& version,
                                                         std::chrono::milliseconds timeout) const {
  std::shared_ptr<CaptureRun> run;
  {
    base::MutexLock lock(mutex_);
    const auto found = runs_.find(session_id);
    if (found == runs_.end()) {
      return absl::NotFoundError(base::StrCat("no capture ", session_id, " here"));
    }
    if (found->second.run == nullptr) return found->second.last_status;
    run = found->second.run;
  }
  return run->WaitChange(version, timeout);
}

ConnectionId Collector::ConnectionOf(const std::string& session_id) const {
  base::MutexLock lock(mutex_);
  const auto found = runs_.find(session_id);
  return found != runs_.end() ? found->second.connection : 0;
}

}  // namespace nanolane::collector
